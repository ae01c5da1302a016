//! Words of the simulated memory: variables, and tables that may be too large to build.

use super::{Inner, Sim};
use crate::sim::layout::{Part, VarId, VarInfo};
use crate::sim::rules::Rules;
use doorway_core::memory::{Decl, Name, Pid, Word, fit};
use elsa::FrozenMap;
use std::any::TypeId;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Deref, Index, Range};
use std::rc::Rc;

/// Which other processes may access a variable at the same time: this decides what is a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alone {
    /// All of them.
    Never,
    /// None during a statement: accesses of one statement are one step.
    While,
    /// None ever: an access is not a step.
    Always,
}

impl Alone {
    pub(super) fn of(private: bool, plain: bool) -> Self {
        match (private, plain) {
            (true, _) => Self::Always,
            (false, true) => Self::While,
            (false, false) => Self::Never,
        }
    }
}

/// A word of the simulated memory.
pub struct SimCell<T> {
    pub(super) id: VarId,
    width: u32,
    pub(super) alone: Alone,
    of: PhantomData<T>,
}

impl<T> Debug for SimCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.id)
    }
}

/// A variable of the simulated memory.
#[derive(Debug)]
pub struct SimVar<T>(pub(super) SimCell<T>);

impl<T> Deref for SimVar<T> {
    type Target = SimCell<T>;
    fn deref(&self) -> &SimCell<T> {
        &self.0
    }
}

impl<T: Word> SimCell<T> {
    /// A value as the variable will store it.
    pub(super) fn word(&self, x: T) -> u64 {
        fit::<T>(x.pack(), self.width)
    }
}

impl Sim {
    pub(super) fn cell<T: Word>(&self, name: Name<Part>, decl: &Decl<'_, T>) -> SimCell<T> {
        let id = self.0.layout.borrow_mut().add_var(name, decl);
        let width = if self.0.faults.is_empty() { decl.width } else { self.begins_otherwise(id) };
        SimCell { id, width, alone: Alone::of(decl.private, decl.plain), of: PhantomData }
    }
}

impl Sim {
    /// A single variable that some part has declared, by its paper's name: for texts that look at
    /// an algorithm from outside. `None` if there is none of this name and type.
    #[must_use]
    pub fn declared<T: Word>(&self, part: Part, name: &str) -> Option<SimVar<T>> {
        self.declared_at(part, name, 0).map(SimVar)
    }

    /// All variables of a row, in the same way; empty if there is no such row.
    #[must_use]
    pub fn declared_row<T: Word>(&self, part: Part, name: &str) -> Vec<SimCell<T>> {
        (0..).map_while(|at| self.declared_at(part, name, at)).collect()
    }

    fn declared_at<T: Word>(&self, part: Part, name: &str, at: usize) -> Option<SimCell<T>> {
        let layout = self.0.layout.borrow();
        let id = layout.find(part, name, at)?;
        let var = layout.var(id);
        let alone = Alone::of(var.private, var.plain);
        (var.of == TypeId::of::<T>()).then_some(SimCell { id, width: var.width, alone, of: PhantomData })
    }
}

/// A table of the simulated memory.
pub struct SimTable<T> {
    first: usize,
    columns: usize,
    cells: Vec<SimCell<T>>,
    sparse: Option<Sparse<T>>,
}

/// A table whose entries are created on their first access.
struct Sparse<T> {
    sim: Sim,
    entry: VarInfo,
    width: u32,
    made: FrozenMap<usize, Box<SimCell<T>>>,
}

impl<T: Word> SimTable<T> {
    pub(super) fn new(sim: &Sim, name: Name<Part>, rows: Range<usize>, columns: usize, decl: Decl<'_, T>) -> Self {
        let first = rows.start;
        if sim.0.sparse {
            let entry = VarInfo::new(name, &decl);
            let sparse = Sparse { sim: sim.clone(), entry, width: decl.width, made: FrozenMap::new() };
            return Self { first, columns, cells: Vec::new(), sparse: Some(sparse) };
        }
        let entry = |at: usize| {
            let decl = decl.home(Pid::new(first + at / columns));
            sim.cell(Name { index: Some(at), ..name }, &decl)
        };
        Self { first, columns, cells: (0..rows.len() * columns).map(entry).collect(), sparse: None }
    }
}

impl<T> Debug for SimTable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimTable").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<T> Index<(usize, usize)> for SimTable<T> {
    type Output = SimCell<T>;
    fn index(&self, (row, column): (usize, usize)) -> &SimCell<T> {
        assert!(row >= self.first && column < self.columns, "the table has no entry ({row}, {column})");
        let at = (row - self.first) * self.columns + column;
        let Some(Sparse { sim, entry, width, made }) = &self.sparse else { return &self.cells[at] };
        made.get(&at).unwrap_or_else(|| {
            let id = sim.make(entry.in_table(at));
            made.insert(
                at,
                Box::new(SimCell { id, width: *width, alone: Alone::of(entry.private, entry.plain), of: PhantomData }),
            )
        })
    }
}

/// Rows that are created late. Here all exist from the start, one after the other.
#[derive(Debug)]
pub struct SimLate<T> {
    first: usize,
    cells: Vec<SimCell<T>>,
}

impl<T: Word> SimLate<T> {
    pub(super) fn new(sim: &Sim, name: Name<Part>, first: usize, rows: usize, decl: &Decl<'_, T>) -> Self {
        let cell = |at: usize| sim.cell(Name { index: Some(at), ..name }, decl);
        Self { first, cells: (0..(first << rows) - first).map(cell).collect() }
    }

    /// Whether there is such a row.
    pub(super) fn has(&self, row: usize) -> bool {
        (self.first << row) - self.first < self.cells.len()
    }
}

impl<T> Index<(usize, usize)> for SimLate<T> {
    type Output = SimCell<T>;
    fn index(&self, (row, i): (usize, usize)) -> &SimCell<T> {
        let size = self.first << row;
        assert!(i < size, "row {row} has {size} variables");
        &self.cells[size - self.first + i]
    }
}

impl Sim {
    pub(in crate::sim) fn with_rules(rules: &Rules) -> Self {
        let (sparse, loops_to_decrement, loops_to_add) = (rules.sparse, !rules.bounded_decrement, !rules.fetch_add);
        let faults = rules.faults;
        let deaths = (rules.crashes > 0).then_some(rules.deaths);
        Self(Rc::new(Inner { sparse, loops_to_decrement, loops_to_add, faults, deaths, ..Inner::default() }))
    }

    fn make(&self, entry: VarInfo) -> VarId {
        let mut made = self.0.made.borrow_mut();
        made.push(entry);
        let mut layout = self.0.layout.borrow_mut();
        layout.sparse_vars += 1;
        (layout.vars.len() + layout.sparse_vars - 1) as VarId
    }

    /// The variables created since the last call, in the order of their numbers.
    pub(in crate::sim) fn take_made(&self) -> Vec<VarInfo> {
        std::mem::take(&mut self.0.made.borrow_mut())
    }
}
