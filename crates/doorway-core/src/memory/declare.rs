//! Declaring variables: what a memory must know about each variable, and the place it belongs to.

use super::{AtomicBlock, LateRows, Memory, Pid, Seats, Word};
use core::fmt;
use core::ops::{Deref, Range};

/// The process in whose module of a distributed shared memory a variable lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// Remote to all processes.
    Nobody,
    /// Local to this process, remote to all others.
    Of(Pid),
}

/// Kinds of registers, from the weakest to the strongest.
///
/// ```
/// use doorway_core::memory::Register;
/// assert!(Register::Safe < Register::Atomic);
/// assert_eq!(Register::Regular.to_string(), "regular");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Register {
    /// A read that overlaps a write may return any value of the domain.
    Safe,
    /// A read that overlaps a write returns at least the last value that was written completely. If
    /// the write makes the value smaller, the read returns the old or the new value.
    Monotone,
    /// A read that overlaps a write returns the old or the new value.
    Regular,
    /// Every read and every write happens at one instant.
    Atomic,
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "safe",
            Self::Monotone => "monotone",
            Self::Regular => "regular",
            Self::Atomic => "atomic",
        })
    }
}

/// The values that a read of a non-atomic variable may return while a write is in progress.
#[derive(Clone, Copy, Debug)]
pub enum Domain<'a, T> {
    /// These values.
    Of(&'a [T]),
    /// The natural numbers, up to the limit that the current search states.
    Naturals,
}

/// The weakest register with which an algorithm claims to work, for one variable.
///
/// A memory may provide a stronger register, but never a weaker one. If a register may return any
/// value, the set of these values is part of the claim.
#[derive(Clone, Copy, Debug)]
pub enum Needs<'a, T> {
    /// A safe register over this domain.
    Safe(Domain<'a, T>),
    /// A monotone register over this domain.
    Monotone(Domain<'a, T>),
    /// A regular register.
    Regular,
    /// An atomic register.
    Atomic,
}

impl<T> Needs<'_, T> {
    /// The kind of register, without its domain.
    #[must_use]
    pub fn register(&self) -> Register {
        match self {
            Self::Safe(_) => Register::Safe,
            Self::Monotone(_) => Register::Monotone,
            Self::Regular => Register::Regular,
            Self::Atomic => Register::Atomic,
        }
    }
}

/// The declaration of one variable. A bare value declares an atomic variable of 64 bits with no
/// home.
///
/// ```
/// use doorway_core::memory::{Decl, Domain, Home, Needs, Pid, Register, decl};
/// let x: Decl<i64> = 2.into();
/// assert_eq!((x.init, x.home, x.width), (2, Home::Nobody, 64));
/// let flag = decl(false).home(Pid::new(1)).needs(Needs::Safe(Domain::Of(&[false, true])));
/// assert_eq!(flag.needs.register(), Register::Safe);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decl<'a, T> {
    /// The initial value.
    pub init: T,
    /// The process in whose module it lives.
    pub home: Home,
    /// The weakest register with which it is claimed to work.
    pub needs: Needs<'a, T>,
    /// The values it takes, where they do not follow from `needs`; see [`Decl::ranges_over`].
    pub domain: Option<Domain<'a, T>>,
    /// Its number of bits. Arithmetic on it is modulo `2^width`.
    pub width: u32,
    /// Whether only differences between counters matter; see [`Decl::counts`].
    pub counts: bool,
    /// Whether only the process it lives with ever accesses it; see [`Decl::private`].
    pub private: bool,
    /// Whether its value matters only while its owner watches it; see [`Decl::only_while_watched`].
    pub watched: bool,
    /// Whether it stands for plain memory instead of synchronising processes; see [`Decl::plain`].
    pub plain: bool,
}

/// Starts a declaration; see [`Decl`].
pub fn decl<'a, T: Word>(init: T) -> Decl<'a, T> {
    Decl {
        init,
        home: Home::Nobody,
        needs: Needs::Atomic,
        domain: None,
        width: 64,
        counts: false,
        private: false,
        watched: false,
        plain: false,
    }
}

impl<'a, T: Word> Decl<'a, T> {
    /// Sets its home to this process.
    #[must_use]
    pub fn home(mut self, p: Pid) -> Self {
        self.home = Home::Of(p);
        self
    }

    /// Sets the weakest register with which it is claimed to work.
    #[must_use]
    pub fn needs(mut self, needs: Needs<'a, T>) -> Self {
        self.needs = needs;
        self
    }

    /// Sets the values it takes. A checker may weaken its register [further](Needs) than it needs.
    /// A read that overlaps a write then returns one of these values. Bits and names of processes
    /// need no such declaration.
    ///
    /// ```
    /// use doorway_core::memory::{Domain, Register, decl};
    /// let turn = decl(1u64).ranges_over(Domain::Of(&[1, 2, 3]));
    /// assert_eq!(turn.needs.register(), Register::Atomic); // it is no claim
    /// ```
    #[must_use]
    pub fn ranges_over(mut self, domain: Domain<'a, T>) -> Self {
        self.domain = Some(domain);
        self
    }

    /// Declares it as one of the algorithm's counters. The text only compares counters with each
    /// other and adds to them. Subtracting the same number from all counters, and from the copies
    /// that processes keep, then changes nothing. A checker may therefore keep counters small, and
    /// can search growing tickets without a bound on passages.
    #[must_use]
    pub fn counts(mut self) -> Self {
        self.counts = true;
        self
    }

    /// Declares it as a private variable of this process that outlives its passages. No other
    /// process may access it, so an access is not a step of its own: a checker merges it with the
    /// step beside it, and it costs nothing.
    #[must_use]
    pub fn private(mut self, p: Pid) -> Self {
        self.private = true;
        self.home(p)
    }

    /// Declares that it stands for plain memory, on which the algorithm prevents overlapping
    /// accesses: no process writes it while another may access it. That is a claim of the
    /// algorithm, and must be checked as well. In return, consecutive accesses to plain variables
    /// within one statement are one step, because no process could tell the difference.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Makes it wrap at this many bits.
    ///
    /// # Panics
    /// Panics if `bits` is not in `1..=64`, if the initial value does not fit, or if the type says
    /// that its variables are [whole](Word::WHOLE).
    #[must_use]
    pub fn wraps_at(mut self, bits: u32) -> Self {
        assert!(bits == 64 || !T::WHOLE, "variables of this type have 64 bits");
        assert!((1..=64).contains(&bits), "a variable has between 1 and 64 bits, not {bits}");
        let init = self.init.pack();
        assert!(super::fit::<T>(init, bits) == init, "the initial value {:?} does not fit {bits} bits", self.init);
        self.width = bits;
        self
    }
}

impl Decl<'_, bool> {
    /// Declares that its value matters only while its owner [watches](super::Here::watches) it: it
    /// will be written before any process reads it again. A checker then forgets the value and
    /// merges states that differ in nothing else. The checker reports a process that reads it
    /// anyway.
    #[must_use]
    pub fn only_while_watched(mut self) -> Self {
        self.watched = true;
        self
    }
}

impl<T: Word> From<T> for Decl<'_, T> {
    fn from(init: T) -> Self {
        decl(init)
    }
}

/// The name and place of a variable, as they are passed to a memory.
#[derive(Clone, Copy, Debug)]
pub struct Name<P> {
    /// The part to which it belongs.
    pub part: P,
    /// The paper's name for it.
    pub name: &'static str,
    /// Its index in a row, or in a table counted row by row.
    pub index: Option<usize>,
    /// In a table: the process of the first row, and the length of a row.
    pub table: Option<(usize, usize)>,
}

/// A variable that is stored [beside others](Site::near).
pub struct Near<M: Memory, T: Word>(M::Group<T, 1>);

impl<M: Memory, T: Word> Near<M, T> {
    /// Wraps the one variable of a group.
    pub const fn of(group: M::Group<T, 1>) -> Self {
        Self(group)
    }
}

impl<M: Memory, T: Word> Deref for Near<M, T> {
    type Target = M::Cell<T>;
    #[inline(always)]
    fn deref(&self) -> &M::Cell<T> {
        &self.0[0]
    }
}

impl<M: Memory, T: Word> fmt::Debug for Near<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[0].fmt(f)
    }
}

/// A building site: the place where the variables of one part of an algorithm are declared.
///
/// ```
/// use doorway_core::memory::spinning::Spinning;
/// use doorway_core::memory::Site;
///
/// let site = Site::new(&Spinning);
/// let level = site.part("slot", Some(2));
/// let x = level.var("X", 2i64); // traces of the checker call it `slot2.X`
/// assert_eq!(format!("{x:?}"), "2");
/// ```
#[derive(Debug)]
pub struct Site<'m, M: Memory> {
    memory: &'m M,
    part: M::Part,
}

impl<'m, M: Memory> Site<'m, M> {
    /// The site of a whole algorithm.
    pub fn new(memory: &'m M) -> Self {
        Self { memory, part: M::ROOT }
    }

    /// A site within this one, for a part of the algorithm. `index` distinguishes parts of one
    /// kind.
    #[must_use]
    pub fn part(&self, kind: &'static str, index: Option<usize>) -> Self {
        Self { memory: self.memory, part: self.memory.part(self.part, kind, index) }
    }

    /// The memory on which the algorithm is built.
    #[must_use]
    pub fn memory(&self) -> &'m M {
        self.memory
    }

    /// The part that is built here. Its text begins with `let p = p.on(self.part)`.
    #[must_use]
    pub fn here(&self) -> M::Part {
        self.part
    }

    /// Declares a variable.
    pub fn var<'a, T: Word>(&self, name: &'static str, decl: impl Into<Decl<'a, T>>) -> M::Var<T> {
        self.memory.var(Name { part: self.part, name, index: None, table: None }, decl.into())
    }

    /// Declares a variable that may share a cache line with others: it is written seldom, or only
    /// by processes that access its neighbours as well.
    ///
    /// ```
    /// use doorway_core::memory::spinning::Spinning;
    /// use doorway_core::memory::Site;
    ///
    /// let site = Site::new(&Spinning);
    /// assert_eq!(format!("{:?}", site.near("door", 7u64)), "7");
    /// ```
    pub fn near<'a, T: Word>(&self, name: &'static str, decl: impl Into<Decl<'a, T>>) -> Near<M, T> {
        let decl = decl.into();
        Near(self.memory.group(1, |_| (Name { part: self.part, name, index: None, table: None }, decl)))
    }

    /// Declares at most `N` variables that are stored beside each other.
    ///
    /// # Panics
    /// Panics if there are more than `N`.
    pub fn few<'a, T: Word, const N: usize>(
        &self,
        name: &'static str,
        n: usize,
        decl: impl Fn(usize) -> Decl<'a, T>,
    ) -> M::Group<T, N> {
        assert!(n <= N, "{name} has at most {N} variables, not {n}");
        self.memory.group(n, |i| (Name { part: self.part, name, index: Some(i), table: None }, decl(i)))
    }

    /// Declares a row of variables, laid out by home.
    pub fn row<'a, T: Word>(&self, name: &'static str, n: usize, decl: impl Fn(usize) -> Decl<'a, T>) -> M::Row<T> {
        self.memory.row(n, |i| (Name { part: self.part, name, index: Some(i), table: None }, decl(i)))
    }

    /// Declares a table with a row for each of these processes. Each row lives with its process:
    /// `P[p][0..columns]`. All entries are declared alike.
    ///
    /// ```
    /// use doorway_core::memory::spinning::Spinning;
    /// use doorway_core::memory::Site;
    ///
    /// let p = Site::new(&Spinning).table("P", 1..3, 2, false);
    /// assert_eq!(format!("{:?}", p[(2, 1)]), "false"); // the last: rows 1 and 2, columns 0 and 1
    /// ```
    pub fn table<'a, T: Word>(
        &self,
        name: &'static str,
        rows: Range<usize>,
        columns: usize,
        decl: impl Into<Decl<'a, T>>,
    ) -> M::Table<T> {
        let name = Name { part: self.part, name, index: Some(0), table: Some((rows.start, columns)) };
        self.memory.table(name, rows, columns, decl.into())
    }
}

impl<M: Seats> Site<'_, M> {
    /// The bytes that the owners of `seats` seats keep locked while they live.
    pub fn bytes(&self, name: &'static str, seats: usize) -> M::Bytes {
        self.memory.bytes(Name { part: self.part, name, index: None, table: None }, seats)
    }
}

impl<M: LateRows> Site<'_, M> {
    /// Declares up to `rows` rows that are made [when they are needed](LateRows). The first has
    /// `first` variables, and each later row is twice as long as the one before it. All variables
    /// are declared alike.
    pub fn late_rows<'a, T: Word>(
        &self,
        name: &'static str,
        first: usize,
        rows: usize,
        decl: impl Into<Decl<'a, T>>,
    ) -> M::Late<T> {
        let name = Name { part: self.part, name, index: Some(0), table: None };
        self.memory.late_rows(name, first, rows, decl.into())
    }
}

impl<M: AtomicBlock> Site<'_, M> {
    /// The lock by which the atomic blocks of this part exclude each other.
    pub fn lock(&self) -> M::Lock {
        self.memory.lock()
    }
}
