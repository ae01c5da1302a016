//! Our mutexes and those of others, all as something to pass through.

use super::{CONTROL, PARKING_LOT, SLOTS, STD};
use crate::bench::alone::{self, Alone};
use crate::bench::crowded::{self, Plan};
use crate::bench::entrance::Entrance;
use crate::bench::slots::slots;
use crate::bench::{Effort, entrance};
use crate::measure;
use doorway::algorithm::{Exclusive, Mcs, YaFast};
use doorway::native::Native;
use doorway::{Mutex, gates::Gate};
use doorway_core::registry::{self, Entry, Listed, Problem};
use mcslock::raw::MutexNode;
use std::sync::PoisonError;

/// A lock is built for this many competitors even if one thread is alone.
const MEMBERS: usize = 8;

impl<T: Send, E: Exclusive> Entrance for Mutex<T, E>
where
    E::On<Native>: Sync,
{
    type Member<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let Ok(_guard) = me.lock() else { return false };
        inside();
        true
    }
}

struct Std(std::sync::Mutex<()>);

impl Entrance for Std {
    type Member<'a> = &'a Self;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let _guard = me.0.lock().unwrap_or_else(PoisonError::into_inner);
        inside();
        true
    }
}

struct Spin<R>(spin::mutex::Mutex<(), R>);

impl<R: spin::RelaxStrategy + Send + Sync> Entrance for Spin<R> {
    type Member<'a>
        = &'a Self
    where
        Self: 'a;
    fn join(&self) -> &Self {
        self
    }
    #[inline(always)]
    fn pass(me: &mut &Self, inside: impl FnOnce()) -> bool {
        let _guard = me.0.lock();
        inside();
        true
    }
}

struct McsLock<R>(mcslock::raw::Mutex<(), R>);

impl<R: mcslock::relax::Relax + Send + Sync> Entrance for McsLock<R> {
    type Member<'a>
        = (&'a Self, MutexNode)
    where
        Self: 'a;
    fn join(&self) -> Self::Member<'_> {
        (self, MutexNode::new())
    }
    #[inline(always)]
    fn pass((me, node): &mut Self::Member<'_>, inside: impl FnOnce()) -> bool {
        me.0.lock_with_then(node, |()| inside());
        true
    }
}

/// Is called once with each peer.
trait Take {
    /// `make` builds it for this many threads, if it supports them.
    fn take<R: Entrance + 'static>(&mut self, peer: &'static str, fair: bool, make: fn(usize) -> Option<R>);
}

fn algorithm<E: Entry + 'static>(take: &mut impl Take)
where
    E::On<Native>: Sync,
{
    let fair = E::INFO.properties.contains(&"starvation-free");
    take.take(E::INFO.id, fair, |threads| Gate::<E>::new(threads, 1).ok());
}

/// All peers; the last is the control, a second copy of std's.
fn everybody(take: &mut impl Take) {
    macro_rules! each {
        ($($entry:ident)*) => {
            $(if registry::$entry::INFO.problem == Problem::MutualExclusion {
                algorithm::<registry::$entry>(take);
            })*
        };
    }
    doorway_core::every_algorithm!(each);
    algorithm::<registry::Turnstile>(take);
    algorithm::<registry::TurnstileUnfair>(take);
    take.take(SLOTS[0], true, |_| Some(slots(1).without_numbers()));
    take.take(SLOTS[1], false, |_| Some(slots(1).unfair().without_numbers()));
    take.take("doorway Mutex (mcs)", true, |threads| Mutex::<_, Mcs>::new(threads, ()).ok());
    take.take("doorway Mutex (ya-fast)", true, |threads| Mutex::<_, YaFast>::new(threads, ()).ok());
    take.take(PARKING_LOT, false, |_| Some(entrance::Mutex::<false>(parking_lot::Mutex::new(()))));
    take.take("parking_lot fair", true, |_| Some(entrance::Mutex::<true>(parking_lot::Mutex::new(()))));
    take.take("spin", false, |_| Some(Spin::<spin::Spin>(spin::mutex::Mutex::new(()))));
    take.take("spin yield", false, |_| Some(Spin::<spin::Yield>(spin::mutex::Mutex::new(()))));
    take.take("mcslock", true, |_| Some(McsLock::<mcslock::relax::Spin>(mcslock::raw::Mutex::new(()))));
    take.take("mcslock yield", true, |_| Some(McsLock::<mcslock::relax::Yield>(mcslock::raw::Mutex::new(()))));
    for name in [STD, CONTROL] {
        take.take(name, false, |_| Some(Std(std::sync::Mutex::new(()))));
    }
}

/// For runs with threads.
pub(super) fn ways(threads: usize) -> Vec<crowded::PeerInCrowd> {
    struct Ways(usize, Vec<crowded::PeerInCrowd>);
    impl Take for Ways {
        fn take<R: Entrance + 'static>(&mut self, peer: &'static str, fair: bool, make: fn(usize) -> Option<R>) {
            if make(self.0).is_some() {
                let room = move |plan: &Plan| make(plan.threads).expect("it has just been built for this many");
                self.1.push(crowded::way(peer, fair, room));
            }
        }
    }
    let mut ways = Ways(threads, Vec::new());
    everybody(&mut ways);
    ways.1
}

/// One thread, in and out.
pub(super) fn alone(effort: &Effort) -> Alone {
    let (effort, times) = (*effort, effort.rounds.clamp(1, 20_000));
    let measure = move || {
        measure::pin(0);
        alone::contest("lock and unlock", 1, times, &effort, ways_alone(times))
    };
    std::thread::spawn(measure).join().expect("a lone thread does not wait")
}

fn ways_alone(times: u32) -> Vec<alone::PeerAlone> {
    struct Ways(u32, Vec<alone::PeerAlone>);
    impl Take for Ways {
        fn take<R: Entrance + 'static>(&mut self, peer: &'static str, _: bool, make: fn(usize) -> Option<R>) {
            // Built for this many competitors, if it supports them.
            if let Some(room) = make(MEMBERS).or_else(|| make(2)) {
                self.1.push(alone::way(peer, self.0, room));
            }
        }
    }
    let mut ways = Ways(times, Vec::new());
    everybody(&mut ways);
    ways.1
}

/// Makes this many passages through one peer, and does nothing else, so that instructions can be
/// counted. Returns `false` if there is no peer of that name.
#[must_use]
pub fn pass_alone(peer: &str, times: u32) -> bool {
    let way = ways_alone(times).into_iter().find(|(name, _)| *name == peer);
    way.is_some_and(|(_, mut passes)| {
        passes();
        true
    })
}
