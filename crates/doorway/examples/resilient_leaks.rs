//! States, operations and responses that own memory, some of which panic. `ci/valgrind.sh` runs
//! this to check that all memory is freed. With `forget`, some is not.

use doorway::Resilient;
use doorway::resilient::{AmAssign, Closures, Register, Ring};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

fn text(i: usize) -> String {
    format!("a value that lies on the heap, number {i}")
}

fn main() {
    std::panic::set_hook(Box::new(|_| ())); // the panics are on purpose
    let ring = Resilient::new(Ring::new(5), 3).expect("three are few").with_pauses(0);
    let register = Resilient::new(Register::new(text(0)), 2).expect("two are few");
    let names = Resilient::new(Closures::new(vec![text(0)]), 2).expect("two are few").with_pauses(0);
    let paper = Resilient::<_, AmAssign>::for_threads(Register::new(text(0)), 2, 3).expect("three threads are few");
    thread::scope(|s| {
        for thread in 0..3 {
            let (ring, register, names, paper) = (&ring, &register, &names, &paper);
            s.spawn(move || {
                for i in 0..200 {
                    drop(ring.push(text(i)));
                    drop(ring.pop());
                    drop(ring.push(text(i)));
                    drop(register.swap(text(i)));
                    drop(paper.apply(Arc::new(text(i))));
                    names.with(move |names| {
                        names.resize(i % 3 + 1, text(i));
                        text(names.len())
                    });
                    let panics = || names.with(move |names| assert!(names.drain(..).count() > 9, "{}", text(thread)));
                    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
                }
            });
        }
    });
    println!("left inside: {} in the ring, {} names", ring.read(Ring::len), names.read(|names| names.value().len()));
    let handles = register.into_handles();
    if std::env::args().nth(1).as_deref() == Some("forget") {
        std::mem::forget(handles);
    }
}
