//! The command of one's own checks. `examples/peterson/tests` runs it as a program.

use doorway_check::check::command;
use doorway_check::prelude::*;

lock! {
    struct Tickets(remembers: bool): FetchAdd { next: u64 = 0, serving: u64 = 0 }
    acquire(self, p) {
        let mine = p.at(1).fetch_add(&self.next, 1).await?;
        let mut rounds = 0u64;
        if self.remembers {
            // It counts its rounds, so there is no end of local states.
            while p.at(2).read(&self.serving).await? != mine && rounds < u64::MAX {
                rounds += 1;
            }
        } else {
            p.at(2).wait_until(&self.serving, |now| now == mine).await?;
        }
    }
    release(self, p) {
        p.at(3).fetch_add(&self.serving, 1).await?;
    }
}

#[test]
fn reports_are_printed_though_a_later_check_is_refused() {
    let lock = |name, remembers| {
        Check::lock(name, 2, move |site| Tickets::new(site, remembers))
            .property(Property::exclusion("one", 1))
            .with(|search| search.passages(2))
    };
    let checks = [lock("first", false), lock("second", true)];
    let mut out = Vec::new();
    let why = command(&checks, &[], &mut out).unwrap_err().to_string();
    assert!(why.starts_with("second: "), "{why}");
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("first\n") && out.ends_with(")\n"), "{out}");
}
