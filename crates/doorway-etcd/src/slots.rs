//! Slots in etcd: the text, driven.

use crate::builder::Builder;
use crate::cluster::{Cluster, NoAnswer, NoLease, kv, pause, request};
use crate::errors::{Error, ReleaseError, TimeoutError, TryAcquireError};
use crate::guard::Guard;
use crate::keys::{Keys, revision};
use crate::mirror::Shown;
use crate::session::Session;
use crate::status::{self, Known, Status};
use doorway_core::k_assignment::leases::{
    Answer, Chair, Compare as When, Grant, Held, Key, Next, Op, Passage, Revision, Txn, pass,
};
use etcd_client::{Compare, CompareOp, GetOptions, PutOptions, Txn as EtcdTxn, TxnOp, TxnOpResponse};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

/// Slots between machines: at most `k` holders at a time, first come, first served.
///
/// Clones are the same client. Every call must be made in a runtime of tokio. The lease, the watch
/// and the connections are tasks of the runtime in which the slots were connected. When that
/// runtime has ended, all calls return an error.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use doorway_etcd::Slots;
/// let gpus = Slots::connect(["http://10.0.0.1:2379"], "gpus", 4).await?;
/// let mine = gpus.acquire().await?;
/// println!("GPU {}, with fence {}", mine.slot(), mine.fence());
/// mine.release().await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Slots {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Arc<Store>,
    name: String,
    label: String,
    ttl: Duration,
    session: tokio::sync::Mutex<Arc<Session>>,
    runtime: tokio::runtime::Handle,
    follows: JoinHandle<()>,
}

/// What background tasks need.
pub(crate) struct Store {
    cluster: Cluster,
    keys: Keys,
    shown: Shown,
    /// The session in use.
    current: std::sync::Mutex<Weak<Session>>,
    /// Closed when the runtime in which the slots were connected has ended.
    runs: watch::Receiver<()>,
}

impl Store {
    /// What this says, unless the runtime ends: then nothing answers any more.
    async fn unless_it_ends<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut runs = self.runs.clone();
        tokio::select! {
            biased;
            done = call => done,
            _ = runs.changed() => Err(Error::RuntimeEnded),
        }
    }

    /// Gives back what the store says that chairs of this client have, and which they have not.
    ///
    /// A store that was restored from a backup may say so: it has forgotten that a slot was given
    /// back. The lease of this client lives on, so nothing else would free that slot.
    fn give_ghosts_back(self: &Arc<Self>) {
        let session = self.current.lock().unwrap_or_else(|e| e.into_inner()).upgrade();
        let Some(session) = session.filter(|session| session.is_alive()) else { return };
        let ghosts: Vec<Txn> = {
            let mirror = self.shown.mirror();
            let is_ghost = |chair: Chair| session.rests(chair, mirror.revision());
            let slots = mirror.slots().iter().enumerate().filter_map(|(slot, held)| Some((slot, (*held)?)));
            let slots = slots.filter(|(_, held)| is_ghost(held.chair));
            let slots = slots.map(|(slot, Held { fence, .. })| pass(Grant { slot, fence }, &[]));
            let line = mirror.oldest(usize::MAX).into_iter().filter(|(_, chair)| is_ghost(*chair));
            slots.chain(line.map(|(ticket, chair)| forget(chair, ticket))).collect()
        };
        for txn in ghosts {
            let (store, session) = (Arc::clone(self), Arc::clone(&session));
            self.cluster.runtime.spawn(async move { store.insist_while(&session, &txn).await });
        }
    }

    /// Sends this until it is done, refused, or the lease has ended.
    async fn insist_while(&self, session: &Session, txn: &Txn) -> Option<Answer> {
        let request = self.keys.transaction(txn);
        tokio::select! {
            done = self.cluster.insist(request!(client, [request], kv(&client).txn(request))) => {
                done.ok()?.ok().map(|answer| self.keys.answer(&answer, None))
            }
            () = session.ended() => None,
        }
    }

    /// The store is not the one that the session was begun in, so nothing that it holds is certain.
    fn renounce(self: &Arc<Self>) {
        let session = self.current.lock().unwrap_or_else(|e| e.into_inner()).upgrade();
        if let Some(session) = session.filter(|session| session.is_alive()) {
            session.end();
            // An older store may know the lease.
            let store = Arc::clone(self);
            self.cluster.runtime.spawn(async move { session.revoke(&store.cluster).await });
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.follows.abort();
        let session = self.session.get_mut().clone();
        // No guard is left. If the runtime ends, the lease ends by itself.
        if session.is_alive() {
            let store = Arc::clone(&self.store);
            session.end();
            self.runtime.spawn(async move { session.revoke(&store.cluster).await });
        }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("name", &self.inner.name).field("places", &self.places()).finish_non_exhaustive()
    }
}

/// How an entry section ended.
enum Ended {
    Inside,
    Outside,
    Lost,
}

/// Deletes a ticket.
fn forget(chair: Chair, ticket: Revision) -> Txn {
    let when = vec![When::Created(Key::Waits(chair), ticket)];
    Txn { when, then: vec![Op::Delete(Key::Waits(chair))], otherwise: vec![] }
}

/// What a seat tells the caller that releases it.
type Tell = oneshot::Sender<Result<(), ReleaseError>>;

/// After this many requests of one passage, each further one comes after a pause.
const WITHOUT_A_PAUSE: u32 = 4;

/// After this many, an attempt that does not wait has failed: others were faster each time.
const ATTEMPTS: u32 = 16;

/// A chair in use.
pub(crate) struct Seat {
    passage: Passage,
    /// How often its request to leave was in doubt.
    doubts: AtomicU64,
    /// Its slot was no longer its own when it left.
    is_late: bool,
    /// The revision of the last answer.
    answered: Revision,
    heard: watch::Receiver<()>,
    session: Arc<Session>,
    inner: Arc<Inner>,
}

impl Seat {
    fn new(inner: Arc<Inner>, session: Arc<Session>) -> Self {
        let passage = session.take_chair();
        let heard = inner.store.shown.listen(passage.chair());
        Self { passage, doubts: AtomicU64::new(0), is_late: false, answered: 0, heard, session, inner }
    }

    /// Leaves the chair to the next passage.
    fn retire(self) {
        self.session.put_back(self.passage.clone(), self.answered);
    }

    pub(crate) fn grant(&self) -> Option<Grant> {
        self.passage.grant()
    }

    /// Whether what it holds is lost, as far as this machine knows.
    pub(crate) fn is_lost(&self) -> bool {
        !self.session.is_alive() || self.passage.is_lost(&self.inner.store.shown.mirror())
    }

    /// A task of the runtime in which the slots were connected.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.inner.runtime.spawn(task).abort_handle()
    }

    /// Ready when what it holds is lost. It is ready, too, when the seat gives the slot back.
    pub(crate) fn lost_apart(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut heard, session) = (self.heard.clone(), Arc::clone(&self.session));
        let (passage, store) = (self.passage.clone(), Arc::clone(&self.inner.store));
        async move {
            loop {
                heard.borrow_and_update();
                if !session.is_alive() || passage.is_lost(&store.shown.mirror()) {
                    return;
                }
                tokio::select! {
                    rung = heard.changed() => {
                        if rung.is_err() {
                            return; // the seat is gone
                        }
                    }
                    () = session.ended() => return,
                }
            }
        }
    }

    /// Drives the text until it is inside, outside or lost. It is lost when the lease has ended,
    /// whatever was to be sent.
    async fn drive(&mut self, queue: bool) -> Result<Ended, Error> {
        let mut sent = 0;
        loop {
            self.heard.borrow_and_update();
            let next = self.passage.next(&self.inner.store.shown.mirror());
            match next {
                Next::Send(_) | Next::Watch if !self.session.is_alive() => {
                    self.session.end();
                    return Ok(Ended::Lost);
                }
                Next::Send(txn) => {
                    if sent >= WITHOUT_A_PAUSE {
                        pause((sent - WITHOUT_A_PAUSE).min(if queue { 8 } else { 4 })).await;
                    }
                    sent += 1;
                    if sent >= ATTEMPTS && !queue {
                        self.passage.give_up();
                    }
                    self.send(&txn).await?;
                }
                Next::Watch => {
                    tokio::select! {
                        _ = self.heard.changed() => {}
                        () = self.session.ended() => {}
                    }
                }
                Next::Inside(_) => return Ok(Ended::Inside),
                Next::Outside => return Ok(Ended::Outside),
                Next::Lost => return Ok(Ended::Lost),
            }
        }
    }

    /// Sends the same request until it is answered. Ends the session if the answer proves that the
    /// lease is gone.
    async fn send(&mut self, txn: &Txn) -> Result<(), Error> {
        let store = &self.inner.store;
        let request = store.keys.transaction(txn);
        let (doubts, before) = (&self.doubts, store.shown.before());
        let sent = store.cluster.insist_and_count(doubts, request!(client, [request], kv(&client).txn(request)));
        let answered = tokio::select! {
            biased;
            answered = sent => answered?,
            // Nothing that it holds or waits for is left when the lease has ended.
            () = self.session.ended() => return Ok(()),
        };
        match answered {
            Ok(answer) if store.shown.has_gone_back(before, answer.header()) => store.renounce(),
            Ok(answer) => {
                let answer = store.keys.answer(&answer, Some(self.passage.chair()));
                // A copy that was not answered may have given the slot back.
                self.is_late = leaves(txn) && !answer.done && self.doubts.load(SeqCst) == 0;
                self.passage.answered(&answer);
                self.answered = answer.revision;
                if enters(txn) && self.passage.is_lost(&store.shown.mirror()) {
                    // Only this chair writes its receipt: the store is not what it was.
                    store.renounce();
                    self.session.end();
                }
            }
            Err(NoLease) if names_another(txn, self.passage.chair()) => self.passage.has_no_lease(),
            Err(NoLease) => self.session.end(),
        }
        Ok(())
    }

    /// Gives back what it holds or waits for, and the chair. If the cluster refuses that, it says
    /// so, and goes on trying until the lease has ended: as long as the client keeps its lease
    /// alive, nothing else gives the slot back.
    async fn settle(mut self, mut tell: Option<Tell>) {
        let mut refused = 0;
        let settled = loop {
            self.passage.give_up();
            let (shown, passage) = (&self.inner.store.shown, &mut self.passage);
            passage.exit(&shown.mirror());
            match self.drive(true).await {
                Ok(Ended::Inside) => self.doubts.store(0, SeqCst),
                Ok(Ended::Outside) if !self.is_late => {
                    self.retire();
                    break Ok(());
                }
                Ok(Ended::Outside | Ended::Lost) => {
                    self.leave_nothing().await;
                    break Err(ReleaseError::Lost);
                }
                Err(error) => {
                    if let Some(tell) = tell.take() {
                        let _ = tell.send(Err(ReleaseError::Failed(error)));
                    }
                    tokio::select! {
                        () = pause(refused) => refused += 1,
                        () = self.session.ended() => {}
                    }
                }
            }
        };
        if let Some(tell) = tell {
            let _ = tell.send(settled);
        }
    }

    /// Gives back what a chair that is lost may have left. Nothing uses the chair again.
    async fn leave_nothing(&self) {
        if !self.session.is_alive() {
            return;
        }
        let (store, chair) = (&self.inner.store, self.passage.chair());
        let all = Txn { when: vec![], then: vec![Op::Delete(Key::Waits(chair)), Op::ReadSlots], otherwise: vec![] };
        let Some(answer) = store.insist_while(&self.session, &all).await else { return };
        for (slot, Held { fence, .. }) in answer.slots.into_iter().filter(|(_, held)| held.chair == chair) {
            store.insist_while(&self.session, &pass(Grant { slot, fence }, &[])).await;
        }
    }

    /// Gives back what it holds.
    pub(crate) async fn release(self) -> Result<(), ReleaseError> {
        let (was_lost, runtime) = (self.is_lost(), self.inner.runtime.clone());
        let (tell, told) = oneshot::channel();
        // The task goes on if this future is dropped.
        runtime.spawn(self.settle(Some(tell)));
        match told.await {
            Ok(Ok(())) if was_lost => Err(ReleaseError::Lost),
            Ok(settled) => settled,
            Err(_) => Err(ReleaseError::Lost), // the runtime has ended, and the lease ends with it
        }
    }

    /// The same in the background.
    pub(crate) fn leave_behind(self) {
        drop(Entering(Some(self)));
    }
}

/// Whether this is statement 4.
fn leaves(txn: &Txn) -> bool {
    matches!(txn.when[..], [When::Changed(Key::Slot(_), _)])
}

/// Whether this is statement 1 or 5.
fn enters(txn: &Txn) -> bool {
    matches!(txn.when[..], [When::Changed(Key::Receipt(_), _)])
}

/// Whether it writes something for another lease than that of this chair.
fn names_another(txn: &Txn, me: Chair) -> bool {
    txn.then.iter().chain(&txn.otherwise).any(|op| match op {
        Op::PutReceipt(chair, _) | Op::PutWaits(chair) | Op::PutSlot(_, chair) => chair.lease != me.lease,
        Op::Nested(txn) => names_another(txn, me),
        _ => false,
    })
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.inner.store.shown.forget(self.passage.chair(), &self.heard);
    }
}

/// A seat that is settled in the background if its task is dropped.
struct Entering(Option<Seat>);

impl Drop for Entering {
    fn drop(&mut self) {
        if let Some(seat) = self.0.take() {
            let runtime = seat.inner.runtime.clone();
            runtime.spawn(seat.settle(None));
        }
    }
}

impl Slots {
    /// Connects to the cluster, for `slots` slots of this name. All clients must ask for the same
    /// number.
    ///
    /// # Errors
    /// The same as for [`Builder::connect`].
    pub async fn connect<E: AsRef<str>>(
        endpoints: impl IntoIterator<Item = E>,
        name: impl Into<String>,
        slots: usize,
    ) -> Result<Self, Error> {
        Self::builder(endpoints, name, slots).connect().await
    }

    /// The same, with options.
    pub fn builder<E: AsRef<str>>(
        endpoints: impl IntoIterator<Item = E>,
        name: impl Into<String>,
        slots: usize,
    ) -> Builder {
        Builder::new(endpoints, name, Some(slots))
    }

    /// For slots that the cluster already has.
    pub fn existing<E: AsRef<str>>(endpoints: impl IntoIterator<Item = E>, name: impl Into<String>) -> Builder {
        Builder::new(endpoints, name, None)
    }

    pub(crate) async fn begin(
        cluster: Cluster,
        mut keys: Keys,
        asked: Option<usize>,
        name: String,
        ttl: Duration,
        label: String,
    ) -> Result<Self, Error> {
        keys.k = agree(&cluster, &keys, asked, &name).await?;
        let (running, runs) = watch::channel(());
        let store = Arc::new(Store { cluster, shown: Shown::new(keys.k), keys, current: Default::default(), runs });
        let mut attempt = 0;
        while let Err(why) = store.shown.read(&store.cluster, &store.keys).await {
            if let NoAnswer::Refused(error) = why {
                return Err(error);
            }
            store.cluster.rest(attempt).await;
            attempt += 1;
        }
        let runtime = tokio::runtime::Handle::current();
        let session = new_session(&store, ttl, &label).await?;
        let followed = Arc::clone(&store);
        let follows = tokio::spawn(async move {
            // Dropped with this task, when the runtime ends.
            let _running = running;
            let was_read =
                |has_gone_back| if has_gone_back { followed.renounce() } else { followed.give_ghosts_back() };
            followed.shown.follow(&followed.cluster, &followed.keys, was_read).await;
        });
        let session = tokio::sync::Mutex::new(session);
        Ok(Self { inner: Arc::new(Inner { store, name, label, ttl, session, runtime, follows }) })
    }

    /// The number of slots.
    #[must_use]
    pub fn places(&self) -> usize {
        self.inner.store.keys.k
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The time to live that the cluster has granted. It is at least the time that was asked for.
    pub async fn ttl(&self) -> Duration {
        self.inner.session.lock().await.ttl()
    }

    /// The lease, or a new one if it has ended.
    async fn session(&self) -> Result<Arc<Session>, Error> {
        let mut session = self.inner.session.lock().await;
        if !session.is_alive() {
            session.end();
            *session = new_session(&self.inner.store, self.inner.ttl, &self.inner.label).await?;
        }
        Ok(Arc::clone(&session))
    }

    /// Waits for a slot. During an outage it goes on waiting. If the lease of the client ends
    /// meanwhile, the caller gets in line again, at the end.
    ///
    /// Dropping the future gives up: in the background, the caller leaves the line, and gives back
    /// a slot that it was just granted.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request, or if the runtime in which the slots
    /// were connected has ended.
    pub async fn acquire(&self) -> Result<Guard, Error> {
        let mut attempts = 0;
        loop {
            if let Some(guard) = self.enter(true).await? {
                return Ok(guard);
            }
            pause(attempts).await;
            attempts += 1;
        }
    }

    /// Takes a slot if one is free and no client waits.
    ///
    /// # Errors
    /// Returns an error if there is none, or if the cluster refuses the request.
    pub async fn try_acquire(&self) -> Result<Guard, TryAcquireError> {
        match self.enter(false).await {
            Ok(Some(guard)) => Ok(guard),
            Ok(None) => Err(TryAcquireError::NoPlace),
            Err(error) => Err(TryAcquireError::Failed(error)),
        }
    }

    /// Waits for a slot, but no longer than `timeout`.
    ///
    /// # Errors
    /// Returns an error if the time is over, or if the cluster refuses the request.
    pub async fn acquire_timeout(&self, timeout: Duration) -> Result<Guard, TimeoutError> {
        match tokio::time::timeout(timeout, self.acquire()).await {
            Ok(acquired) => acquired.map_err(TimeoutError::Failed),
            Err(_) => Err(TimeoutError::TimedOut),
        }
    }

    /// One attempt to enter, with as many sessions as it needs.
    async fn enter(&self, queue: bool) -> Result<Option<Guard>, Error> {
        self.inner.store.unless_it_ends(self.enter_for_ever(queue)).await
    }

    async fn enter_for_ever(&self, queue: bool) -> Result<Option<Guard>, Error> {
        let mut attempts = 0;
        loop {
            let mut seat = Seat::new(Arc::clone(&self.inner), self.session().await?);
            seat.passage.enter(&self.inner.store.shown.mirror(), queue);
            let mut entering = Entering(Some(seat));
            let Some(seat) = entering.0.as_mut() else { return Ok(None) };
            match seat.drive(queue).await? {
                Ended::Inside if seat.session.is_alive() => {
                    seat.doubts.store(0, SeqCst);
                    return Ok(entering.0.take().and_then(Guard::of));
                }
                Ended::Outside => {
                    entering.0.take().into_iter().for_each(Seat::retire);
                    return Ok(None);
                }
                // Never told the caller: begin again.
                Ended::Inside | Ended::Lost => drop(entering),
            }
            pause(attempts).await;
            attempts += 1;
            if !queue && attempts >= ATTEMPTS / 2 {
                return Ok(None);
            }
        }
    }

    /// The holders and the waiters, as the cluster has them now.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request.
    pub async fn status(&self) -> Result<Status, Error> {
        let Store { cluster, keys, .. } = &*self.inner.store;
        let all = || Some(GetOptions::new().with_prefix());
        let both = EtcdTxn::new().and_then([TxnOp::get(keys.queue(), all()), TxnOp::get(keys.members(), all())]);
        let read = cluster.insist(request!(client, [both], kv(&client).txn(both)));
        let read = self.inner.store.unless_it_ends(read).await?;
        let Ok(read) = read else { return Err(Error::Refused("a read needs no lease".to_owned())) };
        let mut kvs = Vec::new();
        for part in read.op_responses() {
            if let TxnOpResponse::Get(mut get) = part {
                kvs.extend(get.take_kvs());
            }
        }
        Ok(status::of(&self.inner.name, keys, &kvs))
    }

    /// Takes a slot away from its holder, and gives it to the oldest waiter, if there is one.
    /// Returns what is known of the holder; `None` if the slot was free.
    ///
    /// This does not stop the holder. [`Guard::lost`] tells it of its loss, but only a resource
    /// that compares fences keeps its work out.
    ///
    /// # Errors
    /// Returns an error if there is no such slot, or if the cluster refuses the request.
    pub async fn break_slot(&self, slot: usize) -> Result<Option<Known>, Error> {
        match self.holder(slot).await? {
            Some((fence, known)) => Ok(self.take_away(slot, fence).await?.then_some(known)),
            None => Ok(None),
        }
    }

    /// The same, but only if the holder still has this fence.
    ///
    /// # Errors
    /// The same as for [`break_slot`](Self::break_slot).
    pub async fn break_holder(&self, slot: usize, fence: u64) -> Result<Option<Known>, Error> {
        match self.holder(slot).await? {
            Some((held, known)) if held == fence => Ok(self.take_away(slot, fence).await?.then_some(known)),
            _ => Ok(None),
        }
    }

    async fn holder(&self, slot: usize) -> Result<Option<(u64, Known)>, Error> {
        let slots = self.places();
        if slot >= slots {
            return Err(Error::NoSuchSlot { slot, slots });
        }
        let holders = self.status().await?.holders;
        Ok(holders.into_iter().find(|holder| holder.slot == slot).map(|holder| (holder.fence, holder.known)))
    }

    /// Statement 4, for another. Returns whether the slot has left its holder, by this or
    /// otherwise.
    async fn take_away(&self, slot: usize, fence: u64) -> Result<bool, Error> {
        let Store { cluster, keys, shown, .. } = &*self.inner.store;
        let mut heirs = shown.mirror().oldest(1);
        loop {
            let request = keys.transaction(&pass(Grant { slot, fence }, &heirs));
            let asked = cluster.insist(request!(client, [request], kv(&client).txn(request)));
            match self.inner.store.unless_it_ends(asked).await? {
                Ok(_) => return Ok(true),
                Err(NoLease) => heirs.clear(),
            }
            pause(0).await;
        }
    }

    /// How often the mirror was read anew, and how often its watch was opened. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn reads_and_watches(&self) -> (u64, u64) {
        let shown = &self.inner.store.shown;
        (shown.reads.load(SeqCst), shown.watches.load(SeqCst))
    }

    /// How many requests were in doubt so far, and were sent again. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn doubts(&self) -> u64 {
        self.inner.store.cluster.doubts.load(SeqCst)
    }

    /// Gives everything back at once: the slots of this client, and its places in line. Its guards
    /// count as lost.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses the request.
    pub async fn close(self) -> Result<(), Error> {
        let session = Arc::clone(&*self.inner.session.lock().await);
        let store = &self.inner.store;
        store.unless_it_ends(session.revoke(&store.cluster)).await
    }
}

/// The number of slots of this name: the first client decides.
async fn agree(cluster: &Cluster, keys: &Keys, asked: Option<usize>, name: &str) -> Result<usize, Error> {
    let key = keys.size();
    let absent = Compare::create_revision(key.clone(), CompareOp::Equal, 0);
    let write = asked.map(|k| TxnOp::put(key.clone(), k.to_string(), None));
    let request = EtcdTxn::new()
        .when([absent])
        .and_then(write.into_iter().collect::<Vec<_>>())
        .or_else([TxnOp::get(key.clone(), None)]);
    let answer = cluster.insist(request!(client, [request], kv(&client).txn(request))).await?;
    let Ok(answer) = answer else { return Err(Error::Refused("no lease is asked for".to_owned())) };
    let found = answer.op_responses().into_iter().find_map(|part| match part {
        TxnOpResponse::Get(get) => get.kvs().first().map(|kv| kv.value_str().unwrap_or("").parse::<usize>()),
        _ => None,
    });
    match (found, asked) {
        (Some(Err(_) | Ok(0)), _) => Err(Error::NotSlots(key)),
        (Some(Ok(found)), Some(asked)) if found != asked => Err(Error::OtherSlots { found, asked }),
        (Some(Ok(found)), _) => Ok(found),
        (None, Some(asked)) => Ok(asked),
        (None, None) => Err(Error::Missing(name.to_owned())),
    }
}

/// A lease, a key that says whose it is, and a task that keeps it alive.
async fn new_session(store: &Arc<Store>, ttl: Duration, label: &str) -> Result<Arc<Session>, Error> {
    let mut attempt = 0;
    loop {
        match begin(store, ttl, label, attempt).await {
            Ok(session) => {
                *store.current.lock().unwrap_or_else(|e| e.into_inner()) = Arc::downgrade(&session);
                let (kept, store) = (Arc::clone(&session), Arc::clone(store));
                let runtime = store.cluster.runtime.clone();
                runtime.spawn(async move { kept.keep_alive(&store.cluster).await });
                return Ok(session);
            }
            Err(NoAnswer::Refused(error)) => return Err(error),
            Err(NoAnswer::InDoubt(_) | NoAnswer::NoLease) => store.cluster.rest(attempt).await,
        }
        attempt += 1;
    }
}

async fn begin(store: &Store, ttl: Duration, label: &str, attempt: u32) -> Result<Arc<Session>, NoAnswer> {
    let session = Arc::new(Session::begin(&store.cluster, ttl, attempt).await?);
    let (key, value) = (store.keys.member(session.lease), status::described(label));
    let attached = PutOptions::new().with_lease(session.lease as i64);
    let put = store
        .cluster
        .insist(request!(client, [key, value, attached], kv(&client).put(key, value, Some(attached))))
        .await;
    match put {
        Ok(Ok(put)) => {
            debug_assert!(revision(put.header().map_or(0, |header| header.revision())) > 0);
            Ok(session)
        }
        Ok(Err(NoLease)) => Err(NoAnswer::NoLease),
        Err(error) => Err(NoAnswer::Refused(error)),
    }
}
