//! The accounts: never more tokens than slots.
//!
//! The guardian holds a slot for every token that a client has taken, and one for the token that
//! is in the pipe, if there is one. When a client takes that token, the guardian gets in line for
//! another slot. When a client gives a token back while one lies there, the guardian takes one away
//! and gives its slot back. The build itself holds one more slot, for the job that every client may
//! run without a token.
//!
//! The guardian cannot know which client has a token, only how many tokens are in the pipe.

use super::clients;
use super::fifo::Fifo;
use crate::run::Bell;
use doorway::shared::{Error, OwnedGuard, Slots};
use rustix::fd::{AsFd, BorrowedFd};
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A token in the pipe is for clients that wait for one; they take it within this time.
const GRACE: Duration = Duration::from_millis(10);
/// How often the guardian checks whether others wait for the slot of an unused token, and looks at
/// the pipe if the kernel does not report changes.
const LOOK: Duration = Duration::from_millis(50);
/// The longest time that a build without use for tokens stays out of line, when others wait.
const LONGEST_REST: Duration = Duration::from_millis(500);
/// How often the guardian looks for clients that died with tokens, without another reason.
const SLOW_LOOK: Duration = Duration::from_secs(1);

type Wish = Pin<Box<dyn Future<Output = Result<OwnedGuard, Error>>>>;

pub(super) struct Tokens {
    fifo: Fifo,
    /// A handle of its own: the lifeline that keeps the build's slot after the guardian's death
    /// must not keep these.
    slots: Arc<Slots>,
    /// A slot for each token.
    guards: Vec<OwnedGuard>,
    most: usize,
    /// The place in line for another slot.
    wish: Option<Wish>,
    bell: Arc<Bell>,
    /// Since when a token is in the pipe.
    lies_since: Instant,
    /// How long to stay out of line, and until when, because no client took the last token.
    rest: Duration,
    rests_until: Instant,
    next_slow_look: Instant,
    has_failed: bool,
    /// Whether any client has this open.
    anybody_has: fn(&Path) -> bool,
}

impl Tokens {
    /// No token yet. One of the slots is the build's own.
    pub(super) fn new(fifo: Fifo, slots: Slots) -> io::Result<Self> {
        let bell = Arc::new(Bell::new()?);
        let (most, now) = (slots.places() - 1, Instant::now());
        Ok(Self {
            fifo,
            slots: Arc::new(slots),
            guards: Vec::new(),
            most,
            wish: None,
            bell,
            lies_since: now,
            rest: Duration::ZERO,
            rests_until: now,
            next_slow_look: now,
            has_failed: false,
            anybody_has: clients::anybody_has,
        })
    }

    pub(super) fn fifo(&self) -> &Fifo {
        &self.fifo
    }

    /// What to poll for a reason to take a [`turn`](Self::turn).
    pub(super) fn reasons(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.bell.as_fd()].into_iter().chain(self.fifo.events())
    }

    /// After this time there is a reason in any case.
    pub(super) fn patience(&self) -> Duration {
        let lies = self.fifo.unread() > 0;
        if self.fifo.events().is_none() || lies || self.wish.is_none() && self.may_want() { LOOK } else { SLOW_LOOK }
    }

    fn may_want(&self) -> bool {
        !self.has_failed && self.guards.len() < self.most
    }

    /// Matches tokens and slots. Says what people should know.
    pub(super) fn turn(&mut self, say: &mut dyn FnMut(String)) {
        let now = Instant::now();
        self.bell.hear();
        let events = self.fifo.look();
        let mut unread = self.fifo.unread();
        if unread > self.guards.len() {
            // Counts only tokens that were really taken away: a client may be faster.
            let surplus = self.fifo.take(unread - self.guards.len());
            if surplus > 0 {
                say(format!(
                    "a program has given back {surplus} more job tokens than it took; they were removed: look for a program \
                     that releases tokens it does not have"
                ));
            }
            unread = self.fifo.unread().min(self.guards.len());
        }
        if unread > 0 && self.wish.take().is_some() {
            self.lies_since = now; // one was given back, and is enough
        }
        if unread > 1 {
            self.give_back(unread - 1, say);
        }
        if events.moved && unread == 0 {
            self.rest = Duration::ZERO; // clients want tokens
            self.rests_until = now;
        }
        if unread > 0 && now.duration_since(self.lies_since) >= GRACE && self.do_others_wait() {
            self.give_back(1, say);
            self.rest = (2 * self.rest).clamp(LOOK, LONGEST_REST);
            self.rests_until = now + self.rest;
        }
        if events.closed || now >= self.next_slow_look {
            self.look_for_clients(now, say);
        }
        self.get_another(now, say);
    }

    /// Gives all slots back.
    pub(super) fn end(&mut self) {
        self.wish = None;
        self.release(self.guards.len(), &mut |_| {});
    }

    /// Takes tokens out of the pipe, and gives their slots back.
    fn give_back(&mut self, most: usize, say: &mut dyn FnMut(String)) {
        let taken = self.fifo.take(most);
        self.release(taken, say);
    }

    fn release(&mut self, count: usize, say: &mut dyn FnMut(String)) {
        for guard in self.guards.drain(self.guards.len() - count.min(self.guards.len())..) {
            let slot = guard.slot();
            if let Err(error) = guard.release() {
                say(format!("slot {slot} of a job token: {error}"));
            }
        }
    }

    fn do_others_wait(&self) -> bool {
        self.slots.status().is_ok_and(|status| status.waiters.iter().any(|waiter| !waiter.dead))
    }

    /// Gets in line for another slot if no token is in the pipe.
    fn get_another(&mut self, now: Instant, say: &mut dyn FnMut(String)) {
        while self.fifo.unread() == 0 && self.may_want() && now >= self.rests_until {
            let slots = &self.slots;
            let wish = self.wish.get_or_insert_with(|| {
                let slots = Arc::clone(slots);
                Box::pin(async move { slots.acquire_owned_async().await })
            });
            let waker = Waker::from(Arc::clone(&self.bell));
            match wish.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => return,
                Poll::Ready(Ok(guard)) => {
                    self.wish = None;
                    if let Err(error) = self.fifo.put() {
                        say(format!("cannot hand out a job token: {error}"));
                        return;
                    }
                    self.guards.push(guard);
                    self.lies_since = Instant::now();
                }
                Poll::Ready(Err(error)) => {
                    self.wish = None;
                    self.has_failed = true;
                    say(format!("there will be no more job tokens: {error}"));
                }
            }
        }
    }

    /// If no process is left that could give tokens back, they are lost, and their slots come back.
    fn look_for_clients(&mut self, now: Instant, say: &mut dyn FnMut(String)) {
        self.next_slow_look = now + SLOW_LOOK;
        let out = self.guards.len().saturating_sub(self.fifo.unread());
        // Looks twice, because processes come and go during a look.
        let anybody_has = || (self.anybody_has)(self.fifo.link());
        if out == 0 || anybody_has() || anybody_has() {
            return;
        }
        say(format!("{out} job tokens were lost with the programs that held them; they are available again"));
        self.release(out, say);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Style;
    use super::*;
    use doorway::shared::Builder;
    use std::fs::{File, OpenOptions};
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::PathBuf;

    struct Tree {
        tokens: Tokens,
        others: Arc<Slots>,
        said: Vec<String>,
        place: PathBuf,
    }

    impl Tree {
        fn new(test: &str, slots: usize) -> Self {
            let place = std::env::temp_dir().join(format!("doorway-tokens-{}-{test}", std::process::id()));
            let _ = std::fs::remove_dir_all(&place);
            let open = || Builder::new("slots", slots).directory(&place).open().unwrap();
            let others = Arc::new(open());
            let mut tokens = Tokens::new(Fifo::new(&place, Style::Fifo).unwrap(), open()).unwrap();
            tokens.anybody_has = |_| true; // the client is in this process
            Self { tokens, others, said: Vec::new(), place }
        }

        fn client(&self) -> File {
            let auth = self.tokens.fifo.auth();
            let path = auth.strip_prefix("fifo:").unwrap();
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
        }

        fn turn(&mut self) {
            self.tokens.turn(&mut |line| self.said.push(line));
        }

        /// How many slots are taken, and how many tokens lie there.
        fn state(&mut self) -> (usize, usize) {
            self.turn();
            (self.others.status().unwrap().holders.len(), self.tokens.fifo.unread())
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.place);
        }
    }

    fn take(client: &mut File) {
        client.read_exact(&mut [0]).unwrap();
    }

    #[test]
    fn there_is_a_slot_for_every_token_and_one_for_the_tree() {
        let mut tree = Tree::new("slots", 3);
        let mut client = tree.client();
        assert_eq!(tree.state(), (1, 1), "one to be taken");
        take(&mut client);
        assert_eq!(tree.state(), (2, 1));
        take(&mut client);
        assert_eq!(tree.state(), (2, 0), "the third slot is for what runs without a token");
        assert!(client.read(&mut [0]).is_err());
        client.write_all(b"+").unwrap();
        assert_eq!(tree.state(), (2, 1));
        client.write_all(b"+").unwrap();
        assert_eq!(tree.state(), (1, 1));
        assert!(tree.said.is_empty(), "{:?}", tree.said);
    }

    #[test]
    fn no_token_comes_before_its_slot_is_free() {
        let mut tree = Tree::new("limit", 3);
        let held = [(); 3].map(|()| tree.others.acquire_owned().unwrap());
        assert_eq!(tree.state(), (3, 0));
        let [first, ..] = held;
        drop(first);
        while tree.state() != (3, 1) {} // the slot was passed on, and a thread says so
        let mut client = tree.client();
        take(&mut client);
        assert_eq!(tree.state(), (3, 0));
    }

    #[test]
    fn a_token_that_nobody_takes_makes_room_for_others() {
        let mut tree = Tree::new("room", 2);
        let _own = tree.others.acquire_owned().unwrap();
        assert_eq!(tree.state(), (2, 1));
        std::thread::scope(|scope| {
            let other = Builder::new("slots", 2).directory(&tree.place).open().unwrap();
            let waiter = scope.spawn(move || drop(other.acquire().unwrap()));
            while !waiter.is_finished() {
                tree.turn();
            }
        });
        while tree.state() != (2, 1) {} // it comes back when no other build wants it
    }

    #[test]
    fn what_is_given_back_too_often_is_taken_away_with_a_warning() {
        let mut tree = Tree::new("surplus", 3);
        assert_eq!(tree.state(), (1, 1));
        tree.client().write_all(b"+++").unwrap();
        assert_eq!(tree.state(), (1, 1));
        assert!(tree.said[0].contains("3 more job tokens"), "{:?}", tree.said);
    }

    #[test]
    fn tokens_that_nobody_can_give_back_are_given_out_again() {
        let mut tree = Tree::new("lost", 3);
        tree.tokens.anybody_has = clients::anybody_has;
        tree.turn();
        take(&mut tree.client()); // closed at once: it died
        while tree.said.is_empty() {
            tree.turn();
        }
        assert!(tree.said[0].contains("1 job tokens were lost"), "{:?}", tree.said);
        assert_eq!(tree.state(), (1, 1));
    }
}
