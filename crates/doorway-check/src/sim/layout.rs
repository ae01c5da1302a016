//! The declarations: parts, variables, and their names.

use doorway_core::memory::{Decl, Domain, Field, Home, Name, Needs, Pid, Register, Waiters, Word, fit};
use std::any::TypeId;
use std::ops::Range;
use std::sync::Arc;

/// A variable of the simulated memory.
pub type VarId = u32;

/// The value of a variable that no process watches.
pub(super) const FORGOTTEN: u64 = u64::MAX;

/// One declared variable.
#[derive(Clone, Debug)]
pub struct VarInfo {
    name: Name<Part>,
    /// The full name, with the enclosing parts.
    pub path: String,
    /// Its initial value.
    pub init: u64,
    /// The process in whose memory it lives.
    pub home: Home,
    /// The weakest register it is claimed to work with.
    pub needs: Register,
    /// What a torn read may return.
    domain: Values,
    /// Whether it is a counter that matters only by differences.
    pub counts: bool,
    /// Whether only its home process may access it.
    pub private: bool,
    /// Whether its value is forgotten while its home process does not watch it.
    pub watched: bool,
    /// Whether it is plain memory: all accesses to it in one statement are one step.
    pub plain: bool,
    /// Whether [one process](doorway_core::memory::One) waits for it at a time, as its type says.
    pub one_waits: bool,
    pub(super) width: u32,
    pub(super) of: TypeId,
    fields: &'static [Field],
    fit: fn(u64, u32) -> u64,
    show: fn(u64) -> String,
    renamed: fn(u64, &dyn Fn(Pid) -> Pid) -> u64,
}

impl VarInfo {
    pub(super) fn is_private_to_another(&self, p: usize) -> bool {
        self.private && self.home != Home::Of(Pid::new(p))
    }

    /// Its name, and the part it belongs to.
    pub(super) fn name(&self) -> Name<Part> {
        self.name
    }

    /// The number of bits of its words, if it is small and all bit patterns are valid.
    #[must_use]
    pub fn few_bits(&self) -> Option<u32> {
        let few = self.width <= 8 && !self.watched && (self.fit)(u64::MAX, self.width) == (1 << self.width) - 1;
        few.then_some(self.width)
    }

    /// Limits it to this many bits.
    pub(super) fn narrow(&mut self, bits: u32) {
        self.width = self.width.min(bits);
        self.init = self.fit(self.init);
    }

    /// The lowest bit and the width of a field of its words, if there is one of this name. Without
    /// a name, the whole word.
    pub(crate) fn field(&self, name: Option<&str>) -> Option<(u32, u32)> {
        let Some(name) = name else { return Some((0, 64)) };
        self.fields.iter().find(|field| field.name == name).map(|field| (field.lowest, field.bits))
    }

    /// The names of the fields of its words.
    pub(crate) fn field_names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }

    /// The number of its bits.
    pub(crate) fn bits(&self) -> u32 {
        self.width
    }

    /// A word, cut to the width of this variable.
    pub(super) fn fit(&self, word: u64) -> u64 {
        (self.fit)(word, self.width)
    }

    /// What a read may return while these values are being written over `old`, on a register of
    /// this kind. Sorted.
    ///
    /// With several writers, a safe read that overlaps any write returns anything, and a regular
    /// read returns the old value or that of any overlapping write. For one writer these are the
    /// usual definitions.
    pub(super) fn torn(&self, kind: Register, old: u64, writes: &[u64], bounds: Bounds) -> Vec<u64> {
        let mut values = vec![old];
        values.extend_from_slice(writes);
        if Self::returns_anything(kind, old, writes) {
            let any = self.domain.all(bounds);
            values.extend(any.into_iter().filter(|&x| kind == Register::Safe || x > old));
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Whether a read that overlaps these writes over `old` may return values that no process
    /// writes.
    fn returns_anything(kind: Register, old: u64, writes: &[u64]) -> bool {
        match kind {
            Register::Safe => true,
            Register::Monotone => writes.iter().any(|&new| new > old),
            Register::Regular | Register::Atomic => false,
        }
    }

    /// Whether such a read may return undeclared values.
    pub(super) fn invents(&self, kind: Register, old: u64, writes: &[u64]) -> bool {
        matches!(self.domain, Values::Unknown) && Self::returns_anything(kind, old, writes)
    }

    /// As declared; the full name is known once it has a place.
    pub(super) fn new<T: Word>(name: Name<Part>, decl: &Decl<'_, T>) -> Self {
        Self {
            name,
            path: String::new(),
            init: decl.init.pack(),
            home: decl.home,
            needs: decl.needs.register(),
            domain: domain(decl),
            counts: decl.counts,
            private: decl.private,
            watched: decl.watched,
            plain: decl.plain,
            one_waits: T::Waiters::ONE,
            width: decl.width,
            of: TypeId::of::<T>(),
            fields: T::FIELDS,
            fit: fit::<T>,
            show: show::<T>,
            renamed: |word, name| T::unpack(word).renamed(name).pack(),
        }
    }

    /// The entry of a table of which this is the first.
    pub(super) fn in_table(&self, at: usize) -> Self {
        let mut entry = self.clone();
        entry.name.index = Some(at);
        if let Some((first, columns)) = self.name.table {
            entry.home = Home::Of(Pid::new(first + at / columns));
        }
        entry
    }

    fn bare_name(&self) -> String {
        let index = match (self.name.index, self.name.table) {
            (Some(i), Some((first, columns))) => format!("[{}][{}]", first + i / columns, i % columns),
            (Some(i), None) => format!("[{i}]"),
            (None, _) => String::new(),
        };
        format!("{}{index}", self.name.name)
    }

    /// Whether this word of the variable was forgotten.
    #[must_use]
    pub fn is_forgotten(&self, word: u64) -> bool {
        self.watched && word == FORGOTTEN
    }

    /// A word of this variable, if each process had another name.
    pub(super) fn renamed(&self, word: u64, name: &dyn Fn(Pid) -> Pid) -> u64 {
        if self.is_forgotten(word) { word } else { self.fit((self.renamed)(word, name)) }
    }

    /// A value of this variable, for people.
    #[must_use]
    pub fn show(&self, word: u64) -> String {
        if self.is_forgotten(word) { "?".to_owned() } else { (self.show)(word) }
    }
}

/// The values that a variable can take, as words.
#[derive(Clone, Debug)]
enum Values {
    /// Exactly these.
    Of(Arc<[u64]>),
    /// The natural numbers, as far as the search goes.
    Naturals,
    /// The names of processes, after this many other words.
    Names(u64),
    /// Not declared.
    Unknown,
}

/// The range of values that no declaration bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) processes: u64,
    pub(super) largest: u64,
}

impl Values {
    fn all(&self, bounds: Bounds) -> Vec<u64> {
        match self {
            Self::Of(values) => values.to_vec(),
            Self::Naturals => (0..=bounds.largest).collect(),
            Self::Names(before) => (0..bounds.processes + before).collect(),
            Self::Unknown => Vec::new(),
        }
    }
}

/// The values that a torn read may return, as far as they are declared or follow from the type.
fn domain<T: Word>(decl: &Decl<'_, T>) -> Values {
    let declared = match decl.needs {
        Needs::Safe(domain) | Needs::Monotone(domain) => Some(domain),
        Needs::Regular | Needs::Atomic => decl.domain,
    };
    let is = |of: TypeId| TypeId::of::<T>() == of;
    match declared {
        Some(Domain::Of(values)) => Values::Of(values.iter().map(|x| x.pack()).collect()),
        _ if is(TypeId::of::<bool>()) => Values::Of([0, 1].into()),
        Some(Domain::Naturals) => Values::Naturals,
        None if is(TypeId::of::<Pid>()) => Values::Names(0),
        None if is(TypeId::of::<Option<Pid>>()) => Values::Names(1), // `None` is the word 0
        // A type with few values: all of them.
        None if T::MAX <= u64::from(u8::MAX) => {
            Values::Of((0..=T::MAX).filter(|&word| T::unpack(word).pack() == word).collect())
        }
        None => Values::Unknown,
    }
}

pub(super) fn show<T: Word>(word: u64) -> String {
    let text = format!("{:?}", T::unpack(word));
    // Rust writes `Some(p1)` and `None` for what the papers write as p1 and –.
    match text.strip_prefix("Some(").and_then(|t| t.strip_suffix(')')) {
        Some(inner) => inner.to_owned(),
        None if text == "None" => "–".to_owned(),
        None => text,
    }
}

/// A part of an algorithm, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Part(u32);

impl Part {
    /// The algorithm as a whole.
    pub const ROOT: Self = Self(0);

    pub(super) const fn new(number: u32) -> Self {
        Self(number)
    }

    pub(super) const fn number(self) -> u32 {
        self.0
    }
}

/// What is known of a part.
#[derive(Clone, Debug)]
pub struct PartInfo {
    /// The kind of part: the name it was built under; empty for the algorithm as a whole.
    pub kind: &'static str,
    /// Its index among parts of its kind.
    pub index: Option<usize>,
    /// The full name, with the enclosing parts; empty for the algorithm as a whole.
    pub path: String,
    /// Name, first variable and length of each declaration in it.
    vars: Vec<(&'static str, VarId, u32)>,
}

/// Everything that an algorithm declared when it was built.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(super) vars: Vec<VarInfo>,
    pub(super) parts: Vec<PartInfo>,
    /// How many entries of tables were created since, if tables are built on access.
    pub(super) sparse_vars: usize,
}

impl Default for Layout {
    fn default() -> Self {
        let root = PartInfo { kind: "", index: None, path: String::new(), vars: Vec::new() };
        Self { vars: Vec::new(), parts: vec![root], sparse_vars: 0 }
    }
}

impl Layout {
    pub(super) fn add_part(&mut self, within: Part, kind: &'static str, index: Option<usize>) -> Part {
        let outer = &self.parts[within.number() as usize].path;
        let dot = if outer.is_empty() { "" } else { "." };
        let number = index.map_or(String::new(), |i| i.to_string());
        let path = format!("{outer}{dot}{kind}{number}");
        self.parts.push(PartInfo { kind, index, path, vars: Vec::new() });
        Part::new(self.parts.len() as u32 - 1)
    }

    pub(super) fn add_var<T: Word>(&mut self, name: Name<Part>, decl: &Decl<'_, T>) -> VarId {
        let id = self.vars.len() as VarId;
        let part = &mut self.parts[name.part.number() as usize];
        match part.vars.last_mut() {
            Some((last, first, len))
                if *last == name.name && name.index == Some(*len as usize) && *first + *len == id =>
            {
                *len += 1;
            }
            _ => part.vars.push((name.name, id, 1)),
        }
        let outer = if part.path.is_empty() { String::new() } else { format!("{}.", part.path) };
        let mut var = VarInfo::new(name, decl);
        var.path = outer + &var.bare_name();
        self.vars.push(var);
        id
    }

    /// Name, first variable and length of each declaration.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&'static str, VarId, u32)> {
        self.parts.iter().flat_map(|part| part.vars.iter().copied())
    }

    /// The full names of all variables, in the order of their declaration.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.vars.iter().map(|v| v.path.as_str()).collect()
    }

    /// A variable.
    #[must_use]
    pub fn var(&self, v: VarId) -> &VarInfo {
        &self.vars[v as usize]
    }

    /// All variables.
    #[must_use]
    pub fn vars(&self) -> &[VarInfo] {
        &self.vars
    }

    /// A part.
    #[must_use]
    pub fn part(&self, part: Part) -> &PartInfo {
        &self.parts[part.number() as usize]
    }

    /// All parts of one kind; the empty kind is the algorithm as a whole.
    #[must_use]
    pub fn parts_of_kind(&self, kind: &str) -> Vec<Part> {
        (0..self.parts.len() as u32).map(Part::new).filter(|&p| self.part(p).kind == kind).collect()
    }

    /// The part with this full name.
    #[must_use]
    pub fn part_by_path(&self, path: &str) -> Option<Part> {
        (0..self.parts.len() as u32).map(Part::new).find(|&part| self.part(part).path == path)
    }

    /// The variable of a part by its paper's name, and its place in a row (0 for a single
    /// variable).
    #[must_use]
    pub fn find(&self, part: Part, name: &str, index: usize) -> Option<VarId> {
        let (_, first, len) = self.part(part).vars.iter().find(|(n, ..)| *n == name)?;
        (index < *len as usize).then(|| first + index as u32)
    }

    /// Whether at most one variable, or row of variables, of a part has this name.
    #[must_use]
    pub fn is_alone(&self, part: Part, name: &str) -> bool {
        self.part(part).vars.iter().filter(|(n, ..)| *n == name).nth(1).is_none()
    }

    /// The processes that have a row in a table of a part, and the length of a row.
    #[must_use]
    pub fn table(&self, part: Part, name: &str) -> Option<(Range<usize>, usize)> {
        let (_, var, len) = self.part(part).vars.iter().find(|(n, ..)| *n == name)?;
        let (first, columns) = self.var(*var).name.table?;
        Some((first..first + *len as usize / columns, columns))
    }

    /// The variable with this full name.
    #[must_use]
    pub fn by_path(&self, path: &str) -> Option<VarId> {
        self.vars.iter().position(|v| v.path == path).map(|i| i as VarId)
    }

    /// Whether the variable holds values of type `T`.
    #[must_use]
    pub fn holds<T: Word>(&self, v: VarId) -> bool {
        self.var(v).of == TypeId::of::<T>()
    }

    /// A variable by the paper's name alone if that is unique; otherwise its full name.
    #[must_use]
    pub fn short_name(&self, v: VarId) -> String {
        let same = |w: &&VarInfo| w.name.name == self.var(v).name.name && w.name.index == self.var(v).name.index;
        if self.vars.iter().filter(same).count() > 1 { self.var(v).path.clone() } else { self.var(v).bare_name() }
    }

    /// A variable as the text of a part calls it.
    #[must_use]
    pub fn name_within(&self, part: Part, v: VarId) -> String {
        if self.var(v).name.part == part { self.var(v).bare_name() } else { self.short_name(v) }
    }
}
