//! What users can rely on: which types may move to other threads, which survive a panic, and what
//! is not exported.

use doorway::combining::{Add, Combining};
use doorway::pool::{FromFn, Managed};
use doorway::resilient::{Register, Resilient};
use doorway::rooms::{GrowingStack, LateRooms, Queue, Stack, StrictRooms, WorkStack};
use doorway::slots::Unnumbered;
use doorway::{
    Acquire, AcquireOwned, Lent, Mutex, MutexGuard, OwnedLent, OwnedRoomGuard, OwnedSlotGuard, Pool, RoomGuard, Rooms,
    SlotGuard, Slots, TaskRoomGuard, algorithm::YaTree, gates,
};
use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;

/// A type that lacks one of these properties makes a call of this function fail to compile.
fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
fn sent<T: Send>() {}
fn looked_at<T: Sync>() {}
fn survives<T: UnwindSafe + RefUnwindSafe>() {}

/// Whether a type has an auto trait. The answer may be no: an inherent function takes precedence
/// over that of a trait.
macro_rules! has {
    ($of:ty: $bound:path) => {{
        struct Asked<T>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "it is there only for types that have it not")]
        trait Otherwise {
            fn answer() -> bool {
                false
            }
        }
        impl<T> Otherwise for Asked<T> {}
        #[allow(dead_code, reason = "it is there only for types that have it")]
        impl<T: $bound> Asked<T> {
            fn answer() -> bool {
                true
            }
        }
        <Asked<$of>>::answer()
    }};
}

#[test]
fn objects_are_shared_by_threads_and_survive_panics() {
    shared::<Slots>();
    shared::<Slots<Unnumbered>>();
    shared::<Pool<String>>();
    looked_at::<Pool<Cell<u8>>>(); // a value is lent to one thread at a time
    shared::<Rooms>();
    shared::<LateRooms>();
    shared::<StrictRooms>();
    shared::<gates::AmFast>();
    shared::<Combining<Add>>();
    looked_at::<Mutex<Cell<u8>, YaTree>>();
    shared::<Resilient<Register<u64>>>();
    shared::<Queue<String>>();
    shared::<Stack<String>>();
    shared::<GrowingStack<String>>();
    shared::<WorkStack<String>>();
    shared::<Managed<FromFn<fn() -> Result<u8, u8>>>>();
    shared::<doorway::shared::Slots>();
}

#[test]
fn guards_go_where_they_may() {
    shared::<SlotGuard<'_>>();
    shared::<OwnedSlotGuard>();
    shared::<TaskRoomGuard<'_>>();
    shared::<OwnedRoomGuard>();
    sent::<Lent<'_, Cell<u8>>>();
    sent::<OwnedLent<String>>();
    looked_at::<Lent<'_, String>>();
    survives::<Lent<'_, String>>();
    survives::<RoomGuard<'_>>();
    sent::<Acquire<'_>>();
    sent::<AcquireOwned>();
    sent::<doorway::shared::OwnedGuard>();

    assert!(!has!(Mutex<u8, YaTree>: RefUnwindSafe), "it has no poison");
    assert!(!has!(Pool<Cell<u8>>: RefUnwindSafe), "nor have pools");
    assert!(!has!(RoomGuard<'static>: Send), "a thread's visit stays with it");
    assert!(!has!(MutexGuard<'static, u8, YaTree>: Send), "a thread's process number stays with it");
    assert!(!has!(Lent<'static, Cell<u8>>: Sync), "several threads would look at the value");
    assert!(!has!(Pool<std::rc::Rc<u8>>: Sync), "a value goes from thread to thread");
    assert!(!has!(Queue<std::rc::Rc<u8>>: Sync), "a value goes from thread to thread");
    assert!(has!(SlotGuard<'static>: Send), "the question can be answered with yes");
}

/// The modules `waiting` and `native` export what users need, and the wait layer has one hidden
/// door.
#[test]
fn what_is_public_is_meant() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exported = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(source.join(file)).unwrap();
        text.lines().filter(|line| line.starts_with("pub ")).map(str::to_owned).collect()
    };
    assert_eq!(exported("waiting/mod.rs"), ["pub use policy::Policy;", "pub mod internals {"]);
    assert_eq!(
        exported("native/mod.rs"),
        [
            "pub use handle::Native;",
            "pub fn now<F: Future>(future: F) -> F::Output {",
            "pub struct BlockLock(CachePadded<AtomicBool>);"
        ]
    );
    assert!(exported("lib.rs").iter().all(|line| !line.contains('*')), "what a glob exports cannot be seen");
}
