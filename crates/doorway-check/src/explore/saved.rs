//! What an interrupted search knows, in a file, and how it goes on from there.
//!
//! The file has, for each state, the step that first led to it: two bytes, mostly. To resume, the
//! machine makes these steps again, so every state in the file is one that the machine reaches. A
//! sum over the whole file tells whether it is as it was written, and a sample of the states that
//! count as explored is explored again: all their steps must lead to states of the file. If local
//! states were merged as a text says, or by their contents, or in the names of processes, all are
//! explored again. For what was merged is compared after the search, and the file does not tell
//! which values the earlier search has met.

use super::bytes::push;
use super::search::{Decided, Search};
use super::store::{Spare, StateId};
use crate::property::Property;
use crate::sim::{Action, State, TextError, World};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"doorway search 1";
/// How many explored states to explore again, at most.
const SAMPLE: usize = 1000;
/// Why a search was not resumed.
const INTERRUPTED: &str = "interrupted before the search was where it had been";
/// How many states lie between two looks at whether to go on.
const STRIDE: usize = 4096;

/// A sum of bytes that does not depend on the version of the compiler (FNV-1a).
#[derive(Clone, Copy)]
struct Sum(u64);

impl Sum {
    const NEW: Self = Self(0xcbf2_9ce4_8422_2325);

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl std::fmt::Write for Sum {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

/// What a file belongs to: the machine, its rules, and what is asked.
pub(super) fn fingerprint<'p>(
    world: &World,
    initial: &State,
    properties: impl Iterator<Item = (&'p Property, bool)>,
) -> u64 {
    let mut sum = Sum::NEW;
    let rules = world.rules();
    let _ = write!(sum, "{} {} {rules:?} {initial:?}", env!("CARGO_PKG_VERSION"), world.processes());
    let _ = write!(sum, " {}", world.renamings());
    for var in world.layout().vars() {
        let _ = write!(sum, "\n{} {} {}", var.path, var.init, var.bits());
    }
    for (property, _) in properties {
        let _ = write!(sum, "\n{}", property.name());
    }
    sum.0
}

fn damaged(path: &Path) -> TextError {
    TextError::Saved(format!("{} is damaged, or was never whole: the search cannot be resumed", path.display()).into())
}

fn failed(path: &Path, error: &io::Error) -> TextError {
    TextError::Saved(format!("{}: {error}", path.display()).into())
}

struct Summed<W> {
    to: W,
    sum: Sum,
}

impl<W: Write> Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.add(bytes);
        self.to.write_all(bytes)
    }
}

/// Reads numbers as they were written.
struct Numbers<R>(R);

impl<R: Read> Numbers<R> {
    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }

    fn next(&mut self) -> Option<u64> {
        let (mut word, mut shift) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            word |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(word);
            }
            shift += 7;
        }
    }
}

/// Where a file is written until it is whole.
fn unfinished(path: &Path) -> PathBuf {
    path.with_extension("unfinished")
}

/// Makes sure that a file can be written there, before a search that may take long.
///
/// # Errors
/// If it cannot be written.
pub(super) fn can_be_written(path: &Path) -> Result<(), TextError> {
    let unfinished = unfinished(path);
    File::create(&unfinished).and_then(|_| std::fs::remove_file(&unfinished)).map_err(|error| failed(path, &error))
}

impl Search<'_> {
    /// Writes what is known to a file, which appears there only when it is whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn save(&self, fingerprint: u64, expanded: usize, path: &Path) -> Result<(), TextError> {
        let unfinished = unfinished(path);
        self.write(fingerprint, expanded, &unfinished)
            .and_then(|()| std::fs::rename(&unfinished, path))
            .map_err(|error| failed(path, &error))
    }

    fn write(&self, fingerprint: u64, expanded: usize, path: &Path) -> io::Result<()> {
        let mut out = Summed { to: BufWriter::new(File::create(path)?), sum: Sum::NEW };
        out.write(MAGIC)?;
        out.write(&fingerprint.to_le_bytes())?;
        let mut bytes = Vec::new();
        let edges = self.edges - self.partial;
        let decided: Vec<_> = self.asked.iter().enumerate().filter_map(|(i, a)| Some((i, a.decided()?))).collect();
        for number in [self.store.len() as u64, expanded as u64, edges, decided.len() as u64] {
            push(&mut bytes, number);
        }
        for (asked, decided) in decided {
            let (id, action) = match decided {
                Decided::At(id) => (*id, 0),
                Decided::By(id, action) => (*id, 1 + action.number(self.store.processes())),
                Decided::Lasso(_) => continue, // no search is saved after that
            };
            [asked as u64, u64::from(id), action].into_iter().for_each(|number| push(&mut bytes, number));
        }
        let mut last = 0;
        for (parent, action) in self.store.ways() {
            push(&mut bytes, u64::from(parent - last));
            push(&mut bytes, action);
            last = parent;
            if bytes.len() > 1 << 16 {
                out.write(&bytes)?;
                bytes.clear();
            }
        }
        out.write(&bytes)?;
        let sum = out.sum.0;
        out.to.write_all(&sum.to_le_bytes())?;
        out.to.into_inner()?.sync_all()
    }

    /// Makes the steps of a saved search. Returns how many states were explored.
    ///
    /// # Errors
    /// If the file is damaged or belongs to another search.
    pub(super) fn resume(&mut self, world: &mut World, fingerprint: u64, path: &Path) -> Result<usize, TextError> {
        self.check(fingerprint, path)?;
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(|error| failed(path, &error))?);
        let mut head = [0; 24];
        file.read_exact(&mut head).map_err(|error| failed(path, &error))?;
        let expanded = self.make_again(world, &mut Numbers(file)).map_err(|error| error.unwrap_or(damaged(path)))?;
        if self.is_closed(world, expanded)? { Ok(expanded) } else { Err(damaged(path)) }
    }

    /// Whether a file is as it was written, for this search.
    fn check(&self, fingerprint: u64, path: &Path) -> Result<(), TextError> {
        let mut bytes = BufReader::new(File::open(path).map_err(|error| failed(path, &error))?);
        let (mut sum, mut all, mut buffer) = (Sum::NEW, 0u64, vec![0; 1 << 16]);
        // The last eight bytes are the sum of the others.
        let mut tail: Vec<u8> = Vec::new();
        let mut head = Vec::new();
        loop {
            let many = bytes.read(&mut buffer).map_err(|error| failed(path, &error))?;
            if many == 0 {
                break;
            }
            all += many as u64;
            tail.extend_from_slice(&buffer[..many]);
            let known = tail.len().saturating_sub(8);
            sum.add(&tail[..known]);
            head.extend_from_slice(&tail[..known.min(24usize.saturating_sub(head.len()))]);
            tail.drain(..known);
        }
        if all < 32 || head[..16] != MAGIC[..] || tail != sum.0.to_le_bytes() {
            return Err(damaged(path));
        }
        if head[16..] != fingerprint.to_le_bytes() {
            let why = format!("{} is of another search, or of another version; give the same options", path.display());
            return Err(TextError::Saved(why.into()));
        }
        Ok(())
    }

    /// An error without a reason means that the file is damaged.
    fn make_again(&mut self, world: &mut World, numbers: &mut Numbers<impl Read>) -> Result<usize, Option<TextError>> {
        let mut number = || numbers.next().ok_or(None);
        let [states, expanded, edges, decided] = [number()?, number()?, number()?, number()?];
        if expanded > states || states > super::store::MOST_STATES as u64 || decided > self.asked.len() as u64 {
            return Err(None);
        }
        let processes = world.processes();
        let action = |number: u64| Some(Action::of_number(number, processes)).filter(|a| a.number(processes) == number);
        let mut marks = Vec::new();
        for _ in 0..decided {
            marks.push([number()?, number()?, number()?]);
        }
        let (mut parent, mut state, mut next) = (0u64, self.initial.clone(), self.initial.clone());
        let mut spare = Spare::default();
        for id in 1..states {
            let (further, by) = (number()?, action(number()?).ok_or(None)?);
            parent = parent.checked_add(further).filter(|&parent| parent < id && parent <= expanded).ok_or(None)?;
            self.store.load(parent as StateId, &mut state);
            let happened = world.knowing(|machine| {
                next.clone_from(&state);
                machine.act(&mut next, by)
            })?;
            if happened.is_none() || !self.store.add_new(world, &next, (parent as StateId, by), &mut spare)? {
                return Err(None);
            }
            if (id as usize).is_multiple_of(STRIDE) && self.is_interrupted() {
                return Err(Some(TextError::Saved(INTERRUPTED.into())));
            }
        }
        for [asked, id, by] in marks {
            let decided = match by {
                0 => Decided::At(id as StateId),
                by => Decided::By(id as StateId, action(by - 1).ok_or(None)?),
            };
            let asked = self.asked.get_mut(asked as usize).filter(|_| id < states).ok_or(None)?;
            asked.decide(decided);
        }
        self.edges = edges;
        Ok(expanded as usize)
    }

    /// Whether all steps of the explored states, or of a sample of them, lead to known states.
    fn is_closed(&mut self, world: &mut World, expanded: usize) -> Result<bool, TextError> {
        let (mut state, mut next, mut spare) = (self.initial.clone(), self.initial.clone(), Spare::default());
        let mut actions = Vec::new();
        let stride = if world.is_compared_afterwards() { 1 } else { expanded.div_ceil(SAMPLE).max(1) };
        for id in (0..expanded).step_by(stride) {
            if id.is_multiple_of(STRIDE) && self.is_interrupted() {
                return Err(TextError::Saved(INTERRUPTED.into()));
            }
            self.store.load(id as StateId, &mut state);
            actions.clear();
            for p in (0..world.processes()).filter(|&p| world.may_step_next(&state, p)) {
                world.actions(&state, p, &mut actions);
            }
            for &action in &actions {
                let happened = world.knowing(|machine| {
                    next.clone_from(&state);
                    machine.act(&mut next, action)
                })?;
                if happened.is_some() && !self.store.has(world, &next, &mut spare)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
