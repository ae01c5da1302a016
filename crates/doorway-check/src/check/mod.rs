//! An algorithm of your own, under a name: it gets everything that the algorithms of the catalogue
//! have.

mod main;

pub use main::{command, main};

use crate::drive::{Driver, Page, PageError};
use crate::explore::{Explorer, Report, Rmr, half_of_free_memory, rmr};
use crate::property::Property;
use crate::replay::{Token, TokenError, with_written};
use crate::sim::{Rules, Sim, TextError, World};
use crate::subject::OWN_PREFIX;
use crate::trace::Trace;
use crate::viewer::{Record, Recorder, page};
use doorway_core::k_exclusion::{Abortable, KExclusion};
use doorway_core::memory::Site;
use doorway_core::registry::{CostModel, Sizes};
use std::fmt;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

type Build = Arc<dyn Fn(Rules) -> Result<World, TextError> + Send + Sync>;
type Told = Arc<dyn Fn(Explorer<'static>) -> Explorer<'static> + Send + Sync>;

/// An algorithm of your own: its name, how it is built, and what it claims.
///
/// Everything else is one call: the [search](Self::run), the [replay](Self::replay) of a token, a
/// [page](Self::page) of a run, a [page on which you drive it](Self::serve), its [cost](Self::rmr)
/// and a [command](Self::main) that does all of these.
///
/// ```
/// use doorway_check::prelude::*;
///
/// lock! {
///     /// The simplest lock there is.
///     struct TasLock: TestAndSet { taken: bool = false }
///     acquire(self, p) {
///         p.spin_until(|| async { Ok((!p.at(1).test_and_set(&self.taken).await?).then_some(())) }).await?;
///     }
///     release(self, p) {
///         p.at(2).write(&self.taken, false).await?;
///     }
/// }
///
/// let lock = Check::lock("tas", 3, TasLock::new).mutex();
/// let report = lock.run()?;
/// let failure = report.failure().unwrap();
/// assert_eq!(failure.name, "starvation-free");
///
/// // The token of a failure replays it, and says whether the run still breaks the property.
/// let token = failure.token.as_ref().unwrap().to_string();
/// assert!(token.starts_with("dw1/own:tas/3,1/"), "{token}");
/// assert!(lock.replay(&token)?.breaks);
/// assert!(lock.page(&token)?.starts_with("<!doctype html>"));
///
/// // A process that waits pays for each turn.
/// assert_eq!(lock.rmr(CostModel::Cc)?.worst(), Worst::Unbounded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a check does nothing until it is run"]
pub struct Check {
    name: String,
    processes: usize,
    build: Build,
    properties: Vec<Property>,
    told: Told,
    /// Files that pages show, and their texts.
    sources: Vec<(String, String)>,
    /// The file that the check was made in.
    file: &'static str,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("name", &self.name)
            .field("processes", &self.processes)
            .field("properties", &self.properties)
            .finish_non_exhaustive()
    }
}

/// A run that was replayed from a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    /// The run.
    pub trace: Trace,
    /// The property that the token says it breaks.
    pub property: String,
    /// Whether it does.
    pub breaks: bool,
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, property, breaks } = self;
        let but = if *breaks { "breaks" } else { "does NOT break" };
        write!(f, "this run {but} {property}:\n{trace}")
    }
}

impl Check {
    /// A lock, or another solution of k-exclusion, for `n` processes. Tokens contain the name.
    #[track_caller]
    pub fn lock<A>(name: &str, n: usize, build: impl Fn(&Site<'_, Sim>) -> A + Send + Sync + 'static) -> Self
    where
        A: KExclusion<Sim> + 'static,
    {
        Self::of(name, n, move |rules| World::new(n, rules, &build))
    }

    /// A lock whose waiting processes can give up.
    #[track_caller]
    pub fn abortable<A>(name: &str, n: usize, build: impl Fn(&Site<'_, Sim>) -> A + Send + Sync + 'static) -> Self
    where
        A: Abortable<Sim> + 'static,
    {
        Self::of(name, n, move |rules| World::of_abortable(n, rules, &build))
    }

    /// Any machine of `n` processes. `build` makes it with the given rules.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_check::sim::{Sim, World};
    ///
    /// // A counter that loses what others add between its read and its write.
    /// let counter = Check::of("counter", 2, |rules| {
    ///     World::of_programs(2, rules, |site| site.var("X", 0u64), |x, p| async move {
    ///         let p = p.on(Sim::ROOT);
    ///         let Ok(old) = p.at(1).read(&x).await;
    ///         let Ok(()) = p.at(2).write(&x, old + 1).await;
    ///     })
    /// })
    /// .with(|explorer| explorer.passages(1))
    /// .property(Property::sometimes("counts to 2", |v| v.get::<u64>("X") == 2))
    /// .property(Property::never("loses one", |v| v.processes().all(|p| v.is_done(p)) && v.get::<u64>("X") < 2));
    /// let report = counter.run()?;
    /// assert_eq!(report.failure().unwrap().trace.as_ref().unwrap().len(), 4);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    #[track_caller]
    pub fn of(name: &str, n: usize, build: impl Fn(Rules) -> Result<World, TextError> + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            processes: n,
            build: Arc::new(build),
            properties: Vec::new(),
            told: Arc::new(|explorer| explorer),
            sources: Vec::new(),
            file: Location::caller().file(),
        }
    }

    /// Claims what every good mutex claims, under the names of the catalogue: `mutual-exclusion`,
    /// `never-stuck`, `someone-enters`, `deadlock-free`, `bounded-exit`, `starvation-free`.
    pub fn mutex(self) -> Self {
        self.properties(Property::of_a_mutex())
    }

    /// The same for `k` places: `k-exclusion` and `k-enter-together` instead of `mutual-exclusion`
    /// and `someone-enters`.
    pub fn k_exclusion(self, k: usize) -> Self {
        let n = self.processes;
        self.properties(Property::of_k_exclusion(n, k))
    }

    /// Claims a property.
    pub fn property(self, property: Property) -> Self {
        self.properties([property])
    }

    /// Claims several properties.
    pub fn properties(mut self, properties: impl IntoIterator<Item = Property>) -> Self {
        self.properties.extend(properties);
        self
    }

    /// Sets options of each search: rules such as crashes and weak registers, and limits. By
    /// default a search ends when it uses half of the memory that was free.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_core::k_exclusion::anderson_moir_94::Chain;
    ///
    /// let chain = Check::lock("chain", 3, |site| Chain::new(site, 3, 2)).k_exclusion(2);
    /// chain.clone().with(|explorer| explorer.crashes(1)).run()?.assert_holds();
    /// let report = chain.with(|explorer| explorer.crashes(2)).run()?;
    /// assert_eq!(report.failure().unwrap().name, "never-stuck");
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn with(mut self, tell: impl Fn(Explorer<'static>) -> Explorer<'static> + Send + Sync + 'static) -> Self {
        let told = self.told;
        self.told = Arc::new(move |explorer| tell(told(explorer)));
        self
    }

    /// Treats states that differ only in the names of processes as one state: shorthand for
    /// [`Explorer::symmetric`]. The search has up to n! times fewer states (at most 720 times). It
    /// is refused if the processes are not alike.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    ///
    /// lock! {
    ///     /// A queue: each process waits for the one that came before it.
    ///     struct Queue(n: usize): Swap {
    ///         tail: Option<Pid> = None,
    ///         busy: [bool; n] = false,
    ///     }
    ///     acquire(self, p) {
    ///         let me = p.pid();
    ///         p.at(1).write(&self.busy[me.index()], true).await?;
    ///         if let Some(before) = p.at(2).swap(&self.tail, Some(me)).await? {
    ///             p.at(3).wait_until(&self.busy[before.index()], |busy| !busy).await?;
    ///         }
    ///     }
    ///     release(self, p) {
    ///         p.at(4).write(&self.busy[p.pid().index()], false).await?;
    ///     }
    /// }
    ///
    /// let once = Check::lock("queue", 4, |site| Queue::new(site, 4)).with(|explorer| explorer.passages(1));
    /// let once = once.property(Property::exclusion("mutual-exclusion", 1));
    /// let (all, few) = (once.run()?, once.symmetric().run()?);
    /// few.assert_holds();
    /// assert_eq!(few.with_all_names, Some(all.states as u64));
    /// assert!(10 * few.states < all.states);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    pub fn symmetric(self) -> Self {
        self.with(|explorer| explorer.symmetric(true))
    }

    /// Adds a source file to pages: `.source(file!(), include_str!("main.rs"))`. If the program
    /// runs below the folder in which it was compiled, pages find the file in which the check is
    /// made without this call.
    pub fn source(mut self, file: &str, text: &str) -> Self {
        self.sources.push((file.to_owned(), text.to_owned()));
        self
    }

    /// The same, with only those of its claims that have these names.
    ///
    /// # Errors
    /// Returns an error if it has no claim of such a name.
    pub fn only(mut self, names: &[&str]) -> Result<Self, String> {
        let known: Vec<&str> = self.properties.iter().map(Property::name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            return Err(format!("{} has no property {name:?}; it has {}", self.name, known.join(", ")));
        }
        self.properties.retain(|property| names.contains(&property.name()));
        Ok(self)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn explorer(&self) -> Explorer<'static> {
        (self.told)(Explorer::new(self.processes).max_memory(half_of_free_memory()))
    }

    fn rules(&self) -> Rules {
        self.explorer().rules_for(&self.properties)
    }

    /// Searches, and returns the verdicts, with traces and tokens, and what was covered.
    ///
    /// # Errors
    /// The same as for [`Explorer::run`].
    pub fn run(&self) -> Result<Report, TextError> {
        self.run_told(|explorer| explorer)
    }

    /// The same, with options of this one search: among others, those that borrow something.
    ///
    /// ```
    /// use doorway_check::prelude::*;
    /// use doorway_core::k_exclusion::anderson_moir_94::Chain;
    ///
    /// let chain = Check::lock("chain", 4, |site| Chain::new(site, 4, 2)).property(Property::exclusion("exclusion", 2));
    /// let mut most = 0;
    /// let report = chain.run_told(|explorer| explorer.on_progress(|progress| most = most.max(progress.states)))?;
    /// assert!(0 < most && most <= report.states);
    /// # Ok::<(), doorway_check::sim::TextError>(())
    /// ```
    ///
    /// # Errors
    /// The same as for [`Explorer::run`].
    pub fn run_told<'a>(&self, tell: impl FnOnce(Explorer<'a>) -> Explorer<'a>) -> Result<Report, TextError> {
        let world = (self.build)(self.rules())?;
        let report = tell(self.explorer()).properties(self.properties.iter().cloned()).explore(world)?;
        let rules = report.rules;
        let mut report = Report { name: self.name.clone(), ..report };
        for v in &mut report.verdicts {
            v.token = v.trace.as_ref().map(|trace| self.token(rules, &v.name, trace));
        }
        Ok(report)
    }

    /// The token of a trace.
    pub(crate) fn token(&self, rules: Rules, property: &str, trace: &Trace) -> Token {
        Token::of(format!("{OWN_PREFIX}{}", self.name), Sizes { n: self.processes, k: 1 }, rules, property, trace)
    }

    /// The token, its rules for this machine, and the property that it names.
    fn read(&self, token: &str) -> Result<(Token, Rules, Property), TokenError> {
        let token: Token = token.trim().trim_start_matches("replay ").parse()?;
        let id = format!("{OWN_PREFIX}{}", self.name);
        if (&token.id, token.sizes.n) != (&id, self.processes) {
            let (of, here) = ((token.id, token.sizes.n), (id, self.processes));
            return Err(TokenError::Elsewhere { of, here });
        }
        let claimed = self.properties.iter().find(|property| property.name() == token.property).cloned();
        let always = [Property::no_panic(), Property::one_waits()];
        let property = claimed.or_else(|| always.into_iter().find(|property| property.name() == token.property));
        let Some(property) = property else { return Err(TokenError::NoProperty { id, property: token.property }) };
        let rules = with_written(token.rules, self.rules()).for_properties(std::slice::from_ref(&property));
        Ok((token, rules, property))
    }

    /// Replays the run of a token, and judges from the run alone whether it breaks the property
    /// that the token names.
    ///
    /// # Errors
    /// Returns an error if the token is malformed, is of another algorithm, or is stale: the
    /// algorithm has changed since.
    pub fn replay(&self, token: &str) -> Result<Replay, TokenError> {
        let (token, rules, property) = self.read(token)?;
        let world = || (self.build)(rules).map_err(TokenError::Text);
        let trace = token.replay_on(&mut world()?)?;
        let breaks = token.breaks_on(&mut world()?, &property)?;
        Ok(Replay { trace, property: token.property, breaks })
    }

    /// The run of a token, with everything that a page shows.
    ///
    /// # Errors
    /// The same as for [`replay`](Self::replay).
    pub fn record(&self, token: &str) -> Result<Record, TokenError> {
        let breaks = self.replay(token)?.breaks;
        let (token, rules, property) = self.read(token)?;
        let world = (self.build)(rules).map_err(TokenError::Text)?;
        let mut claims = self.properties.clone();
        if !claims.iter().any(|claim| claim.name() == property.name()) {
            claims.insert(0, property);
        }
        let recorder = Recorder::new(&world, claims).map_err(TokenError::Text)?;
        let mut recorder = self.all_sources().into_iter().fold(recorder, |r, (file, text)| r.with_source(&file, &text));
        let record = recorder.record(&token.actions, token.repeats_from).map_err(TokenError::Text)?;
        let record = record.titled(&self.name, self.about(rules));
        Ok(Record { property: Some((token.property.clone(), breaks)), token: Some(token.to_string()), ..record })
    }

    /// A [page](crate::viewer) that shows the run of a token in a browser.
    ///
    /// # Errors
    /// The same as for [`replay`](Self::replay).
    pub fn page(&self, token: &str) -> Result<String, TokenError> {
        Ok(page(&self.record(token)?))
    }

    /// The machine, to be [driven](Driver) by hand.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn driver(&self) -> Result<Driver, TextError> {
        let world = (self.build)(self.rules())?;
        let about = self.about(world.rules());
        let driver = Driver::of_own(self, world, self.properties.clone())?.titled(&self.name, about);
        Ok(self.all_sources().into_iter().fold(driver, |driver, (file, text)| driver.with_source(&file, &text)))
    }

    /// A page on which you drive the machine by hand, at this port of the loopback address. Port 0
    /// means any free port. `check.serve(0)?.run()` serves the page.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay, or the port is not available.
    pub fn serve(&self, port: u16) -> Result<Page, PageError> {
        let check = self.clone();
        Page::new(port, move || check.driver())
    }

    /// The exact number of remote references of the worst passage: for each process, and for all
    /// together.
    ///
    /// # Errors
    /// The same as for [`Explorer::run`].
    pub fn rmr(&self, model: CostModel) -> Result<Rmr, TextError> {
        rmr(model, self.processes, self.processes, |measure| {
            let rules = Rules { measure: Some(measure), ..self.explorer().rules_for(&[]) };
            let explorer = self.explorer().rules(rules);
            Ok((explorer, (self.build)(rules)?))
        })
    }

    fn about(&self, rules: Rules) -> String {
        rules.in_words(format!("n={}", self.processes))
    }

    /// The sources that were given, and the file in which the check was made.
    fn all_sources(&self) -> Vec<(String, String)> {
        let mut sources = self.sources.clone();
        if !sources.iter().any(|(file, _)| file == self.file) {
            sources.extend(find_below(self.file).map(|text| (self.file.to_owned(), text)));
        }
        sources
    }
}

/// Reads a file by the name that the compiler gave it: relative to this folder, or to one above it.
fn find_below(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(Path::new(file))).find_map(|path| std::fs::read_to_string(path).ok())
}
