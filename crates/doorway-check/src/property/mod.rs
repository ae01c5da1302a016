//! What can be checked of an algorithm: predicates over statement numbers and variables.
//!
//! - [`Property::always`], [`Property::never`]: holds in every state, in no state.
//! - [`Property::sometimes`]: holds in some state. It guards against checks that hold because
//!   nothing happens.
//! - [`Property::unless`]: once it holds, it holds until something else does. An operator of the
//!   papers' proofs.
//! - [`Property::linearizable`]: the operations of an object return what they would return one
//!   after the other.
//! - [`Property::at_most`]: a bound on the number of certain steps, while something lasts.
//! - [`Property::own_steps`]: a bound on a process's own steps, while something lasts.
//! - [`Property::overtaking`]: a bound on the entries of others, while a process waits. All three
//!   find the exact maximum.
//! - [`Property::leads_to`], [`Property::eventually`], [`Property::infinitely_often`],
//!   [`Property::stabilises`], [`Property::ltl`]: what happens in every fair run.
//! - [`Property::monitor`]: an automaton of your own accepts every step.
//! - [`Property::exclusion`], [`Property::deadlock_free`]: what every lock promises.
//! - [`Property::no_panic`]: the text never panics. Every search checks it, and reports it if it
//!   fails.
//! - [`Property::starvation_free`]: what most locks promise. [`Property::never_stuck`]: weaker than
//!   deadlock freedom, and decided soonest.
//! - [`Property::one_waits`]: no two processes wait where only one should. Checked where types say
//!   so, and reported if it fails.
//! - [`Property::quiet_waits`]: a waiting process does not write, so it can sleep.
//!
//! A property is checked on the algorithm as a whole or, with [`each`](Property::each), on every
//! part of one kind. Then the names of variables and the statement numbers are those of that part.
//!
//! ```
//! use doorway_check::{Explorer, Property};
//! use doorway_core::k_exclusion::anderson_moir_94::Chain;
//!
//! // Invariant (I2) of Anderson and Moir, in each slot of a chain: X = j - |{p : p@{3..6}}|.
//! let i2 = Property::always("I2", |v| v.get::<i64>("X") == v.index() as i64 - v.count(3..=6) as i64).each("slot");
//! let report = Explorer::new(3).property(i2).run(|site| Chain::new(site, 3, 1)).unwrap();
//! report.assert_holds();
//! ```

mod formula;
mod view;

pub use crate::sim::{Monitor, Seen};
pub(crate) use formula::{Automaton, Judged};
pub use formula::{Formula, holds};
pub use view::{Labels, View};

use crate::sim::{Numbered, Object, Phase, Sequential, Watcher, Watches};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The name of [`Property::no_panic`].
pub const NO_PANIC: &str = "no-panic";

/// The name of [`Property::one_waits`].
pub const ONE_WAITS: &str = "one-waits";

type OfState = Arc<dyn Fn(&View<'_>) -> bool + Send + Sync>;
type OfProcess = Arc<dyn Fn(&View<'_>, usize) -> bool + Send + Sync>;
type OfStep = Arc<dyn Fn(&View<'_>, &View<'_>) -> bool + Send + Sync>;

/// A property of an algorithm, which holds or not.
#[derive(Clone)]
pub struct Property {
    pub(crate) name: Cow<'static, str>,
    /// The kind of part on which it is checked.
    pub(crate) kind: &'static str,
    pub(crate) test: Test,
    /// Whether it is known not to tell processes apart.
    pub(crate) counts_only: bool,
}

#[derive(Clone)]
pub(crate) enum Test {
    Always(OfState),
    Sometimes(OfState),
    Unless(OfProcess, OfProcess),
    NeverStuck,
    NoPanic,
    OneWaits,
    QuietWaits,
    /// The flag says whether give-ups may go on for ever.
    LeadsTo(OfProcess, OfProcess, bool),
    DeadlockFree,
    BoundedExit,
    /// At most this many steps of a kind, while a predicate holds of a process.
    AtMost(Option<u32>, OfProcess, OfStep),
    /// At most this many steps of a process, while a predicate holds of it.
    OwnSteps(Option<u32>, OfProcess),
    /// At most this many entries of others, while a predicate holds of a process.
    Overtaking(Option<u32>, OfProcess),
    Monitor(Arc<dyn Watcher>),
    Ltl(Ltl),
    FirstCome(usize),
    FirstEnabled,
    Linearizable(Arc<dyn Fn() -> Box<dyn Object> + Send + Sync>),
}

/// A temporal formula, and the runs of which it is judged.
#[derive(Clone)]
pub(crate) struct Ltl {
    /// The formula of a process, or the one formula.
    formula: Arc<dyn Fn(usize) -> Formula + Send + Sync>,
    /// Whether there is one for each process.
    each: bool,
    /// Whether give-ups may go on for ever.
    pub(crate) endless: bool,
    /// Whether only runs count in which every process begins passages for ever.
    pub(crate) all_take_part: bool,
}

impl Ltl {
    /// The formulas, ready to be judged.
    pub(crate) fn judged(&self, processes: usize) -> Vec<Judged> {
        let many = if self.each { processes } else { 1 };
        (0..many).map(|p| Judged::new(&(self.formula)(p))).collect()
    }
}

impl Test {
    /// Whether it is decided on the whole graph, not on a state or a step.
    pub(crate) fn needs_graph(&self) -> bool {
        matches!(
            self,
            Self::LeadsTo(..)
                | Self::DeadlockFree
                | Self::BoundedExit
                | Self::AtMost(..)
                | Self::OwnSteps(..)
                | Self::Overtaking(..)
                | Self::Ltl(_)
        )
    }
}

impl Property {
    fn new(name: impl Into<Cow<'static, str>>, test: Test) -> Self {
        Self { name: name.into(), kind: "", test, counts_only: false }
    }

    /// `so` holds in every state.
    pub fn always(name: impl Into<Cow<'static, str>>, so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self::new(name, Test::Always(Arc::new(so)))
    }

    /// `so` holds in no state.
    pub fn never(name: impl Into<Cow<'static, str>>, so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self::always(name, move |v| !so(v))
    }

    /// `so` holds in some state.
    pub fn sometimes(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::Sometimes(Arc::new(so)))
    }

    /// For each process: if `so` and not `until`, the next step leads to a state with `so` or
    /// `until`.
    pub fn unless(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
        until: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::Unless(Arc::new(so), Arc::new(until)))
    }

    /// At most `k` processes are inside at once.
    pub fn exclusion(name: impl Into<Cow<'static, str>>, k: usize) -> Self {
        Self { counts_only: true, ..Self::always(name, move |v| v.inside() <= k) }
    }

    /// There is no state in which some processes are outside their remainders and all of these can
    /// only wait.
    ///
    /// This is weaker than [`deadlock_free`](Self::deadlock_free): processes that step aside for
    /// each other for ever are not stuck. It is decided on states, so a search finds a failure
    /// early, and it also covers exit sections.
    pub fn never_stuck(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Test::NeverStuck)
    }

    /// No step makes the text panic: no `assert!` fails, no index is out of range.
    ///
    /// Every search checks it. Unless it was asked for by name, its verdict appears only if it
    /// fails.
    ///
    /// ```
    /// use doorway_check::sim::{Rules, Sim, World};
    /// use doorway_check::{Explorer, property};
    /// use doorway_core::memory::Memory;
    ///
    /// // p1 panics unless it comes first.
    /// let world = World::of_programs(2, Rules::with_passages(Some(1)), |site| site.var("X", 0u64), |x, p| async move {
    ///     let p = p.on(Sim::ROOT);
    ///     let Ok(before) = p.at(1).fetch_add(&x, 1).await;
    ///     assert!(before == 0 || p.pid().index() == 0, "{before} came before p1");
    ///     let Ok(()) = p.at(2).write(&x, 0).await;
    /// })?;
    /// let report = Explorer::new(2).explore(world)?;
    /// let failure = report.failure().unwrap();
    /// assert_eq!(failure.name, property::NO_PANIC);
    /// let trace = failure.trace.as_ref().unwrap();
    /// assert_eq!(trace.len(), 2);
    /// assert_eq!(trace.end[1].panicked.as_deref(), Some("1 came before p1"));
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    #[must_use]
    pub fn no_panic() -> Self {
        Self::new(NO_PANIC, Test::NoPanic)
    }

    /// If the type of a variable says that [one process](doorway_core::memory::One) at a time waits
    /// for it, then at no time do two processes wait for it whose waits are not over. A second
    /// process may begin to wait before the first has noticed that its wait is over.
    ///
    /// Every search of an algorithm with such variables checks it. Unless it was asked for by name,
    /// its verdict appears only if it fails.
    ///
    /// ```
    /// use doorway_check::Explorer;
    /// use doorway_check::property::ONE_WAITS;
    /// use doorway_check::sim::{Rules, Sim, World};
    /// use doorway_core::k_exclusion::turnstile::{Fate, Record};
    /// use doorway_core::memory::Memory;
    ///
    /// // One process at a time may wait for a record. Here two wait for its signal.
    /// let record = Record::new(1, Fate::Waits);
    /// let world = World::of_programs(2, Rules::default(), |site| site.var("rec", record), |record, p| async move {
    ///     let Ok(_) = p.on(Sim::ROOT).at(1).wait_until(&record, |now| now.fate() == Fate::Signalled).await;
    /// })?;
    /// let report = Explorer::new(2).explore(world)?;
    /// assert_eq!(report.failure().unwrap().name, ONE_WAITS);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    #[must_use]
    pub fn one_waits() -> Self {
        Self::new(ONE_WAITS, Test::OneWaits)
    }

    /// If a process returns by its own steps to the state it was in, and has changed nothing, then
    /// it has written nothing either: no write, and no successful compare-and-swap, not even of the
    /// value that is already there.
    ///
    /// A memory that lets processes sleep relies on this: it may wake a sleeper at every write. So
    /// a process that writes at every turn [never
    /// sleeps](doorway_core::memory::Here::go_round_until).
    pub fn quiet_waits(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Test::QuietWaits)
    }

    /// For each process: in every fair run, whenever `so` holds, `then` holds at that moment or
    /// later. Nothing is asked of a process that has crashed.
    ///
    /// A run is fair if every process that has not crashed and is not in its remainder takes steps
    /// for ever. If waits can be given up, a fair run also has only finitely many give-ups; see
    /// [`despite_give_ups`](Self::despite_give_ups).
    pub fn leads_to(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
        then: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::LeadsTo(Arc::new(so), Arc::new(then), false))
    }

    /// [`leads_to`](Self::leads_to), even in runs in which others give up for ever.
    #[must_use]
    pub fn despite_give_ups(mut self) -> Self {
        if let Test::LeadsTo(.., endless) | Test::Ltl(Ltl { endless, .. }) = &mut self.test {
            *endless = true;
        }
        self
    }

    /// A temporal [formula](Formula), judged in every fair run.
    ///
    /// Runs are fair as for [`leads_to`](Self::leads_to): processes in their remainders need not
    /// start. With [`if_all_take_part`](Self::if_all_take_part), they do.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_check::property::holds;
    /// use doorway_core::mutex::yang_anderson_93::TwoProcess;
    ///
    /// let inside = |p: usize| holds(format!("p{p} inside"), move |v| v.phase(p) == Phase::Inside);
    /// let waits = |p: usize| holds(format!("p{p} waits"), move |v| v.phase(p) == Phase::Entry);
    /// let lock = Check::lock("ya-two", 2, TwoProcess::new)
    ///     .property(Property::ltl_each("enters", move |p| waits(p).leads_to(inside(p))))
    ///     .property(Property::ltl("both, for ever", inside(0).infinitely_often().and(inside(1).infinitely_often())));
    /// let report = lock.with(|explorer| explorer.keep_going(true)).run()?;
    /// assert_eq!(report.verdict("enters").holds, Some(true));
    /// assert_eq!(report.verdict("both, for ever").holds, Some(false)); // p0 need not start
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn ltl(name: impl Into<Cow<'static, str>>, formula: Formula) -> Self {
        let formula = Arc::new(move |_| formula.clone());
        Self::new(name, Test::Ltl(Ltl { formula, each: false, endless: false, all_take_part: false }))
    }

    /// A temporal formula for each process.
    pub fn ltl_each(
        name: impl Into<Cow<'static, str>>,
        formula: impl Fn(usize) -> Formula + Send + Sync + 'static,
    ) -> Self {
        let formula = Arc::new(formula);
        Self::new(name, Test::Ltl(Ltl { formula, each: true, endless: false, all_take_part: false }))
    }

    /// In every fair run, `so` holds at some time. Usually this needs
    /// [`if_all_take_part`](Self::if_all_take_part).
    pub fn eventually(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::ltl(name, holds("so", so).eventually())
    }

    /// In every fair run, `so` holds again and again, for ever. Usually this needs
    /// [`if_all_take_part`](Self::if_all_take_part).
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_core::mutex::yang_anderson_93::TwoProcess;
    ///
    /// let enters = |p: usize| move |v: &View<'_>| v.phase(p) == Phase::Inside;
    /// let lock = Check::lock("ya-two", 2, TwoProcess::new)
    ///     .property(Property::infinitely_often("p1 enters", enters(1)).if_all_take_part())
    ///     .property(Property::infinitely_often("p1 enters, or sleeps in", enters(1)));
    /// let report = lock.with(|explorer| explorer.keep_going(true)).run()?;
    /// assert_eq!(report.verdict("p1 enters").holds, Some(true));
    /// assert_eq!(report.verdict("p1 enters, or sleeps in").holds, Some(false));
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn infinitely_often(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::ltl(name, holds("so", so).infinitely_often())
    }

    /// In every fair run, `so` holds for ever from some time on.
    pub fn stabilises(
        name: impl Into<Cow<'static, str>>,
        so: impl Fn(&View<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::ltl(name, holds("so", so).stabilises())
    }

    /// For temporal formulas: judges only runs in which every process that has not crashed begins
    /// passages for ever, as long as the rules allow it more.
    #[must_use]
    pub fn if_all_take_part(mut self) -> Self {
        if let Test::Ltl(ltl) = &mut self.test {
            ltl.all_take_part = true;
        }
        self
    }

    /// A [`Monitor`] accepts every step. Other properties can ask for its state, with
    /// [`View::monitor`].
    pub fn monitor(name: impl Into<Cow<'static, str>>, monitor: impl Monitor) -> Self {
        let name = name.into();
        let watches = Watches { name: name.clone().into_owned(), monitor };
        Self::new(name, Test::Monitor(Arc::new(watches)))
    }

    /// What watches each step in order to decide it.
    pub(crate) fn watcher(&self) -> Option<&Arc<dyn Watcher>> {
        match &self.test {
            Test::Monitor(watcher) => Some(watcher),
            _ => None,
        }
    }

    /// In every fair run, a process in its entry section enters, and a process in its exit section
    /// leaves it. With crashes, this holds for all processes that have not crashed.
    pub fn starvation_free(name: impl Into<Cow<'static, str>>) -> Self {
        let on_its_way = |v: &View<'_>, p: usize| matches!(v.phase(p), Phase::Entry | Phase::Exit);
        Self::leads_to(name, on_its_way, move |v, p| !on_its_way(v, p))
    }

    /// Deadlock freedom: whenever a process is in its entry section, some process enters, in every
    /// fair run.
    pub fn deadlock_free(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Test::DeadlockFree)
    }

    /// The exit section takes a bounded number of a process's own steps, whatever the others do.
    pub fn bounded_exit(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Test::BoundedExit)
    }

    /// For each process and every run: as long as `so` holds without interruption, and including
    /// the step that ends it, at most `most` steps are `counted` (judged by the states before and
    /// after). Up to eight such properties can be checked at a time.
    ///
    /// The [verdict](crate::explore::Verdict::most) has the exact maximum, and the trace shows it.
    /// With `None` for `most`, any maximum is accepted, but there must be one.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_core::mutex::yang_anderson_93::TwoProcess;
    ///
    /// let inside = |v: &View<'_>, p: usize| v.phase(p) == Phase::Inside;
    /// let begins = |was: &View<'_>, is: &View<'_>| was.contenders() < is.contenders();
    /// let lock = Check::lock("ya-two", 2, TwoProcess::new)
    ///     .property(Property::at_most("begin while one is inside", None, inside, begins));
    /// assert_eq!(lock.run()?.verdict("begin while one is inside").most, Some(Worst::Bounded(1)));
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn at_most(
        name: impl Into<Cow<'static, str>>,
        most: impl Into<Option<u32>>,
        so: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
        counted: impl Fn(&View<'_>, &View<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::AtMost(most.into(), Arc::new(so), Arc::new(counted)))
    }

    /// For each process: as long as `so` holds without interruption, and including the step that
    /// ends it, the process takes at most `most` steps, whatever the others do. If this holds from
    /// the call of an operation to its return, the operation is wait-free. The exact maximum is
    /// found as for [`at_most`](Self::at_most).
    pub fn own_steps(
        name: impl Into<Cow<'static, str>>,
        most: impl Into<Option<u32>>,
        so: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::OwnSteps(most.into(), Arc::new(so)))
    }

    /// Bounded overtaking: while `waits` holds of a process without interruption, others enter at
    /// most `most` times. The exact maximum is found as for [`at_most`](Self::at_most).
    ///
    /// A process counts as waiting only while `waits` holds of it. Before that, others may overtake
    /// it any number of times. [`bounded_overtaking`](Self::bounded_overtaking) begins where the
    /// text marks the end of its doorway.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    ///
    /// lock! {
    ///     struct Peterson: ReadWrite { flag: [bool; 2] = false, turn: Pid = Pid::new(0) }
    ///     acquire(self, p) {
    ///         let (me, rival) = (p.pid().index(), 1 - p.pid().index());
    ///         p.at(1).write(&self.flag[me], true).await?;
    ///         p.at(2).write(&self.turn, Pid::new(rival)).await?;
    ///         p.spin_until(|| async {
    ///             let free = !p.at(3).read(&self.flag[rival]).await? || p.at(4).read(&self.turn).await? == p.pid();
    ///             Ok(free.then_some(()))
    ///         })
    ///         .await?;
    ///     }
    ///     release(self, p) {
    ///         p.at(5).write(&self.flag[p.pid().index()], false).await?;
    ///     }
    /// }
    ///
    /// let waits = |v: &View<'_>, p: usize| v.phase(p) == Phase::Entry && v.at(p, 3..=4);
    /// let check = Check::lock("peterson", 2, Peterson::new);
    /// let report = check.clone().property(Property::overtaking("overtaken", None, waits)).run()?;
    /// assert_eq!(report.verdict("overtaken").most, Some(Worst::Bounded(1)));
    /// let never = check.property(Property::overtaking("never overtaken", 0, waits)).run()?;
    /// assert_eq!(never.verdict("never overtaken").holds, Some(false));
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn overtaking(
        name: impl Into<Cow<'static, str>>,
        most: impl Into<Option<u32>>,
        waits: impl Fn(&View<'_>, usize) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Test::Overtaking(most.into(), Arc::new(waits)))
    }

    /// [`overtaking`](Self::overtaking) of a process that has left its doorway and has not entered.
    pub fn bounded_overtaking(name: impl Into<Cow<'static, str>>, most: impl Into<Option<u32>>) -> Self {
        Self::overtaking(name, most, |v, p| v.phase(p) == Phase::Entry && v.past_doorway(p))
    }

    /// k-first come, first served: when a process enters, fewer than `k` of the processes that had
    /// left their doorways before it began still wait. With `k = 1`, this is first come, first
    /// served.
    pub fn first_come(name: impl Into<Cow<'static, str>>, k: usize) -> Self {
        Self::new(name, Test::FirstCome(k))
    }

    /// First in, first enabled: once a later process has passed a waiter, the waiter can enter by
    /// its own steps alone, from then on and whatever torn reads return.
    pub fn first_enabled(name: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Test::FirstEnabled)
    }

    /// The operations that texts [invoke](doorway_core::memory::Here::invokes) return the same as
    /// if each took effect at one moment between its first access and its last. An operation that a
    /// crash cut short may take effect at any later time, or never.
    ///
    /// ```
    /// use doorway_check::sim::{Rules, Sequential, World};
    /// use doorway_check::{Explorer, Property};
    /// use doorway_core::memory::Memory;
    ///
    /// struct Counter;
    /// impl Sequential for Counter {
    ///     type State = u64;
    ///     type Op = u64;
    ///     type Response = u64;
    ///     fn initial(&self) -> u64 {
    ///         0
    ///     }
    ///     fn apply(&self, state: &u64, delta: u64) -> (u64, u64) {
    ///         (state + delta, *state)
    ///     }
    /// }
    ///
    /// // A process that reads and then writes loses what others add in between.
    /// let world = World::of_programs(2, Rules::with_passages(Some(1)), |site| site.var("X", 0u64), |x, p| async move {
    ///     let p = p.on(doorway_check::sim::Sim::ROOT);
    ///     p.invokes(1u64);
    ///     let Ok(old) = p.at(1).read(&x).await;
    ///     let Ok(()) = p.at(2).write(&x, old + 1).await;
    ///     p.responds(old);
    /// })?;
    /// let report = Explorer::new(2).property(Property::linearizable("linearizable", Counter)).explore(world)?;
    /// let trace = report.verdict("linearizable").trace.as_ref().unwrap();
    /// assert_eq!(trace.len(), 4);
    /// assert_eq!(trace.steps[0].did, "calls 1; X = 0");
    /// assert_eq!(trace.steps[3].did, "X := 1; returns 0");
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn linearizable(name: impl Into<Cow<'static, str>>, spec: impl Sequential) -> Self {
        let spec = Arc::new(spec);
        Self::new(name, Test::Linearizable(Arc::new(move || Box::new(Numbered::new(Arc::clone(&spec))))))
    }

    /// The object that states must track in order to decide it.
    pub(crate) fn object(&self) -> Option<Box<dyn Object>> {
        match &self.test {
            Test::Linearizable(object) => Some(object()),
            _ => None,
        }
    }

    /// Checks it on every part of this kind.
    #[must_use]
    pub fn each(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    /// Whether states must record the order of arrival to decide it; see
    /// [`Rules::order`](crate::sim::Rules::order).
    #[must_use]
    pub fn needs_order(&self) -> bool {
        matches!(self.test, Test::FirstCome(_) | Test::FirstEnabled)
    }

    /// Whether it is decided on the whole graph, once all states are known, not on a state or a
    /// step.
    #[must_use]
    pub fn needs_graph(&self) -> bool {
        self.test.needs_graph()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.test {
            Test::Always(_) => "always",
            Test::Sometimes(_) => "sometimes",
            Test::Unless(..) => "unless",
            Test::NeverStuck => "never-stuck",
            Test::NoPanic => "no-panic",
            Test::OneWaits => "one-waits",
            Test::QuietWaits => "quiet-waits",
            Test::LeadsTo(..) => "leads-to",
            Test::DeadlockFree => "deadlock-free",
            Test::BoundedExit => "bounded-exit",
            Test::AtMost(..) => "at-most",
            Test::OwnSteps(..) => "own-steps",
            Test::Overtaking(..) => "overtaking",
            Test::Monitor(_) => "monitor",
            Test::Ltl(_) => "ltl",
            Test::FirstCome(_) => "first-come",
            Test::FirstEnabled => "first-enabled",
            Test::Linearizable(_) => "linearizable",
        };
        f.debug_struct("Property").field("name", &self.name).field("kind", &self.kind).field("test", &operator).finish()
    }
}
