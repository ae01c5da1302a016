//! Gates on real threads.

use doorway::gates::{AmChain, AmFast, Bakery, Gate, Guard, Member, YaTwo};
use doorway_core::Failure;
use doorway_core::k_exclusion::KExclusion;
use doorway_core::memory::{Machine, Process, Site};
use doorway_core::registry::{self, Entry, Info, Listed, Sizes};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Threads go in and out. Each thread that is inside counts itself.
fn never_more_than_k<E: Entry>(n: usize, k: usize, passages: usize)
where
    E::On<doorway::native::Native>: Sync,
{
    let gate = Gate::<E>::new(n, k).unwrap();
    let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|s| {
        for _ in 0..n {
            s.spawn(|| {
                let mut me = gate.join().unwrap();
                for _ in 0..passages {
                    let Ok(guard) = me.acquire_or_refused() else { panic!("nobody runs out of tickets here") };
                    assert!(inside.fetch_add(1, SeqCst) < k);
                    entered.fetch_add(1, SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, SeqCst);
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(entered.into_inner(), n * passages);
}

#[test]
fn never_more_than_k_are_inside() {
    never_more_than_k::<registry::Bakery>(3, 1, 500);
    never_more_than_k::<registry::YaTwo>(2, 1, 2000);
    never_more_than_k::<registry::YaTree>(5, 1, 500);
    never_more_than_k::<registry::YaFast>(5, 1, 500);
    never_more_than_k::<registry::AmChain>(5, 2, 500);
    never_more_than_k::<registry::AmChain>(2, 9, 500);
    never_more_than_k::<registry::AmFast>(5, 2, 500);
}

#[test]
fn the_locks_of_others_let_one_in() {
    never_more_than_k::<registry::TasBackoff>(4, 1, 500);
    never_more_than_k::<registry::Ticket>(5, 1, 500); // three bits of ticket: numbers wrap all the time
    never_more_than_k::<registry::AndersonArray>(5, 1, 500);
    never_more_than_k::<registry::Mcs>(4, 1, 500);
    never_more_than_k::<registry::McsSwap>(4, 1, 500);
    never_more_than_k::<registry::LamportFast>(4, 1, 500);
    never_more_than_k::<registry::PetersonFischer>(2, 1, 2000);
    never_more_than_k::<registry::PetersonTree>(5, 1, 500);
    never_more_than_k::<registry::KesselsTree>(5, 1, 500);
}

#[test]
fn names_are_lent_and_come_back() {
    let gate = AmChain::new(2, 1).unwrap();
    let (a, b) = (gate.join().unwrap(), gate.join().unwrap());
    assert_eq!((a.name(), b.name()), (0, 1));
    assert_eq!(gate.join().unwrap_err().members, 2);
    assert!(gate.join().unwrap_err().to_string().contains("build the gate for more members"));
    drop(a);
    assert_eq!(gate.join().unwrap().name(), 0);
}

#[test]
fn a_forgotten_guard_is_a_crash_and_the_others_go_on() {
    let gate = AmFast::new(3, 2).unwrap();
    let mut dead = gate.join().unwrap();
    std::mem::forget(dead.acquire());
    drop(dead); // its name does not come back
    let (mut a, mut b) = (gate.join().unwrap(), gate.join().unwrap());
    assert_eq!(gate.join().unwrap_err().crashed, 1);
    for _ in 0..100 {
        drop(a.acquire());
        drop(b.acquire());
    }
}

#[test]
#[should_panic(expected = "p0 was left inside")]
fn a_process_that_crashed_cannot_enter_again() {
    let gate = AmChain::new(2, 1).unwrap();
    let mut me = gate.join().unwrap();
    std::mem::forget(me.acquire());
    drop(me.acquire());
}

#[test]
fn a_panic_inside_leaves() {
    let gate = YaTwo::new(2, 1).unwrap();
    let result = std::panic::catch_unwind(|| {
        let mut me = gate.join().unwrap();
        let _guard = me.acquire();
        panic!("inside");
    });
    assert!(result.is_err());
    let mut again = gate.join().unwrap();
    drop(again.acquire());
}

#[test]
fn gates_members_and_guards_can_move_to_other_threads() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Member<registry::AmChain, &AmChain>>();
    is_send::<Guard<'_, registry::AmChain>>();
    is_sync::<AmChain>();
    is_sync::<AmFast>();
    is_sync::<Bakery>();
    is_sync::<YaTwo>();
}

#[test]
fn futures_of_concrete_algorithms_are_send() {
    use doorway::native::Native;
    fn is_send<T: Send>(_: &T) {}
    let memory = Native::new();
    let p = Process::new(doorway_core::memory::Pid::new(0), Native::new());
    let fast = registry::AmFast::build(&Site::new(&memory), Sizes { n: 3, k: 1 });
    is_send(&fast.acquire(&p));
    let bakery = registry::Bakery::build(&Site::new(&memory), Sizes { n: 3, k: 1 });
    is_send(&bakery.acquire(&p));
}

/// A user's own algorithm can be a gate. This one admits no member.
#[derive(Debug)]
struct Closed;

#[derive(Debug, PartialEq)]
struct GoAway;

impl Listed for Closed {
    const INFO: Info = Info { id: "closed", ..registry::AmChain::INFO };
}

impl Entry for Closed {
    type On<M: Machine> = Self;
    fn build<M: Machine>(_: &Site<'_, M>, _: Sizes) -> Self {
        Self
    }
}

impl<M: Machine> KExclusion<M> for Closed {
    type Held = ();
    type Refusal = GoAway;
    async fn acquire(&self, _: &Process<M>) -> Result<(), Failure<M::Error, GoAway>> {
        Err(Failure::Refused(GoAway))
    }
    async fn release(&self, _: &Process<M>, (): ()) -> Result<(), M::Error> {
        Ok(())
    }
}

#[test]
fn a_refused_caller_is_outside() {
    let gate = Gate::<Closed>::new(1, 1).unwrap();
    let mut me = gate.join().unwrap();
    assert!(matches!(me.acquire_or_refused(), Err(GoAway)));
    assert!(matches!(me.acquire_or_refused(), Err(GoAway)), "it may ask again");
    drop(me);
    assert!(gate.join().is_ok(), "its name came back");
}
