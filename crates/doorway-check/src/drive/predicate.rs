//! Predicates over variables and statements, as people type them.

use crate::sim::{Layout, Op, Part, Phase, State, TextError, VarId, World};
use crate::viewer::waits_on;
use doorway_core::memory::Label;
use std::collections::BTreeSet;
use std::fmt;

/// The language, for help pages.
pub const GRAMMAR: &str = "\
gate.line > 0 && p1@8        a field of a variable; p1 is at statement 8
Q == p1 || X < 0             values are numbers, true, false, p0, p1, ..., none
!(p0@3..6) && flag[1]        not, brackets; statements 3 to 6; a variable that is true
p2@slot1.{3,5..7}            statements of one part
p0@inside && any@waits       places: inside, entry, exit, outside, waits, asleep, crashed
count@inside >= 2            how many processes are there; also any@... and all@...";

/// A predicate, for the variables of one machine.
///
/// ```
/// use doorway_check::drive::Predicate;
/// use doorway_check::sim::{Rules, World};
/// use doorway_core::k_exclusion::anderson_moir_94::Chain;
///
/// let mut chain = World::new(2, Rules::default(), |site| Chain::new(site, 2, 1))?;
/// let mut state = chain.initial();
/// let one_inside = Predicate::parse("slot1.X == 0 && count@inside = 1", chain.layout(), 2).unwrap();
/// assert!(!one_inside.holds(&mut chain, &state)?);
/// chain.step(&mut state, 0)?;
/// assert!(one_inside.holds(&mut chain, &state)?);
///
/// let wrong = Predicate::parse("X = 0 && p7@5", chain.layout(), 2).unwrap_err();
/// assert_eq!(wrong.to_string(), "at column 10: there is no p7; there are p0 to p1");
/// # Ok::<(), doorway_check::sim::TextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    expression: Expression,
}

/// Where a predicate is wrong, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PredicateError {
    /// How many characters are before the mistake.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PredicateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at column {}: {}", self.at + 1, self.message)
    }
}
impl std::error::Error for PredicateError {}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Expression {
    Or(Vec<Self>),
    And(Vec<Self>),
    Not(Box<Self>),
    /// A process, or any or all of them, at a place.
    At(Which, Place),
    Compare(Term, Order, Term),
    /// A variable that is true.
    True(Term),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    One(usize),
    Any,
    All,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Place {
    In(Phase),
    Waits,
    Asleep,
    Crashed,
    /// Statements, of one part or of any.
    Statements(Option<Part>, Vec<(Label, Label)>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Number(i128),
    Text(String),
    Variable(VarId),
    /// A field of a variable: its lowest bit and its width.
    Field(VarId, u32, u32),
    Count(Place),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(PartialEq, Eq)]
enum Value {
    Number(i128),
    Text(String),
}

const NOBODY: &str = "–";

/// How many brackets and negations may be open at a time.
const DEEPEST: usize = 100;

impl Predicate {
    /// Reads a predicate.
    ///
    /// # Errors
    /// Returns an error, with its place, if the predicate is malformed or names something that does
    /// not exist.
    pub fn parse(text: &str, layout: &Layout, processes: usize) -> Result<Self, PredicateError> {
        let mut parser = Parser { chars: text.chars().collect(), at: 0, deep: 0, layout, processes };
        let expression = parser.or()?;
        parser.blanks();
        if parser.at < parser.chars.len() {
            return Err(parser.wrong("this does not belong here; expected &&, || or the end"));
        }
        Ok(Self { expression })
    }

    /// Whether it holds in a state.
    ///
    /// # Errors
    /// Returns an error if the text cannot be run by replay.
    pub fn holds(&self, world: &mut World, state: &State) -> Result<bool, TextError> {
        self.expression.holds(world, state)
    }

    /// The statements that it names and that are none of these, as typed: probably a mistake.
    pub(super) fn names_none_of(&self, seen: &BTreeSet<Label>) -> Vec<String> {
        let mut missing = Vec::new();
        self.expression.places(&mut |place| {
            let Place::Statements(_, ranges) = place else { return };
            for &(from, to) in ranges {
                if seen.range(from..=to).next().is_none() {
                    missing.push(if from == to { from.to_string() } else { format!("{from}..{to}") });
                }
            }
        });
        missing
    }
}

impl Expression {
    /// Calls this for each place in it.
    fn places(&self, call: &mut impl FnMut(&Place)) {
        match self {
            Self::Or(all) | Self::And(all) => all.iter().for_each(|one| one.places(call)),
            Self::Not(one) => one.places(call),
            Self::At(_, place) => call(place),
            Self::Compare(left, _, right) => [left, right].into_iter().for_each(|term| {
                if let Term::Count(place) = term {
                    call(place);
                }
            }),
            Self::True(_) => {}
        }
    }

    fn holds(&self, world: &mut World, state: &State) -> Result<bool, TextError> {
        Ok(match self {
            Self::Or(any) => {
                for one in any {
                    if one.holds(world, state)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::And(all) => {
                for one in all {
                    if !one.holds(world, state)? {
                        return Ok(false);
                    }
                }
                true
            }
            Self::Not(one) => !one.holds(world, state)?,
            Self::At(Which::One(p), place) => place.is_of(world, state, *p)?,
            Self::At(Which::Any, place) => place.count(world, state)? > 0,
            Self::At(Which::All, place) => place.count(world, state)? == world.processes(),
            Self::True(term) => term.value(world, state)? == Value::Text("true".to_owned()),
            Self::Compare(left, order, right) => {
                let (left, right) = (left.value(world, state)?, right.value(world, state)?);
                match (order, &left, &right) {
                    (Order::Is, ..) => left == right,
                    (Order::IsNot, ..) => left != right,
                    (Order::Less, Value::Number(a), Value::Number(b)) => a < b,
                    (Order::AtMost, Value::Number(a), Value::Number(b)) => a <= b,
                    (Order::More, Value::Number(a), Value::Number(b)) => a > b,
                    (Order::AtLeast, Value::Number(a), Value::Number(b)) => a >= b,
                    _ => false,
                }
            }
        })
    }
}

impl Place {
    fn is_of(&self, world: &mut World, state: &State, p: usize) -> Result<bool, TextError> {
        Ok(match self {
            Self::In(phase) => world.phase(state, p) == *phase && !world.has_crashed(state, p),
            Self::Asleep => world.is_asleep(state, p),
            Self::Crashed => world.has_crashed(state, p),
            Self::Waits => !world.has_crashed(state, p) && waits_on(world, state, p)?.is_some(),
            Self::Statements(part, labels) => {
                let has = |label: Label| labels.iter().any(|(from, to)| (*from..=*to).contains(&label));
                match part {
                    Some(part) => has(world.label_in(state, p, *part)),
                    None => {
                        let (part, label) = world.next_at(state, p);
                        let begun = world.phase(state, p) != Phase::Remainder && world.next(state, p) != Op::Stop;
                        begun && has(label) || has(world.label_in(state, p, part))
                    }
                }
            }
        })
    }

    fn count(&self, world: &mut World, state: &State) -> Result<usize, TextError> {
        let mut count = 0;
        for p in 0..world.processes() {
            count += usize::from(self.is_of(world, state, p)?);
        }
        Ok(count)
    }
}

impl Term {
    fn value(&self, world: &mut World, state: &State) -> Result<Value, TextError> {
        Ok(match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Count(place) => Value::Number(place.count(world, state)? as i128),
            Self::Field(v, lowest, bits) => {
                let word = state.vars[*v as usize] >> lowest;
                Value::Number(i128::from(if *bits >= 64 { word } else { word & ((1 << bits) - 1) }))
            }
            Self::Variable(v) => {
                let shown = world.layout().var(*v).show(state.vars[*v as usize]);
                shown.parse().map_or(Value::Text(shown), Value::Number)
            }
        })
    }
}

struct Parser<'a> {
    chars: Vec<char>,
    at: usize,
    /// How many brackets and negations are open.
    deep: usize,
    layout: &'a Layout,
    processes: usize,
}

impl Parser<'_> {
    fn wrong(&self, message: impl Into<String>) -> PredicateError {
        PredicateError { at: self.at, message: message.into() }
    }

    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Takes this, if it comes next.
    fn takes(&mut self, word: &str) -> bool {
        self.blanks();
        let comes = self.chars[self.at..].iter().copied().take(word.chars().count()).eq(word.chars());
        if comes {
            self.at += word.chars().count();
        }
        comes
    }

    fn or(&mut self) -> Result<Expression, PredicateError> {
        let mut all = vec![self.and()?];
        while self.takes("||") {
            all.push(self.and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expression::Or(all) })
    }

    fn and(&mut self) -> Result<Expression, PredicateError> {
        let mut all = vec![self.one()?];
        while self.takes("&&") {
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expression::And(all) })
    }

    fn one(&mut self) -> Result<Expression, PredicateError> {
        self.blanks();
        self.deep += 1;
        if self.deep > DEEPEST {
            return Err(self.wrong("this is nested too deeply"));
        }
        let one = self.one_within();
        self.deep -= 1;
        one
    }

    fn one_within(&mut self) -> Result<Expression, PredicateError> {
        if self.takes("(") {
            let inner = self.or()?;
            return if self.takes(")") { Ok(inner) } else { Err(self.wrong("a ) is missing here")) };
        }
        if self.chars.get(self.at) == Some(&'!') && self.chars.get(self.at + 1) != Some(&'=') {
            self.at += 1;
            return Ok(Expression::Not(Box::new(self.one()?)));
        }
        let begin = self.at;
        if let Some(word) = self.word() {
            if self.chars.get(self.at) == Some(&'@') {
                let which = match word.as_str() {
                    "any" => Some(Which::Any),
                    "all" => Some(Which::All),
                    "count" => None,
                    word => match process(word) {
                        Some(p) if p < self.processes => Some(Which::One(p)),
                        found => {
                            self.at = begin;
                            return Err(self.wrong(match found {
                                Some(_) => self.no_process(word),
                                None => format!("{word:?} is not a process; write p0, any, all or count before @"),
                            }));
                        }
                    },
                };
                if let Some(which) = which {
                    self.at += 1;
                    return Ok(Expression::At(which, self.place()?));
                }
            }
            self.at = begin;
        }
        let left = self.term()?;
        let place = self.at;
        let Some(order) = self.order() else {
            return match left {
                Term::Variable(_) => Ok(Expression::True(left)),
                _ => Err(self.wrong("compare this with something: ==, !=, <, <=, > or >=")),
            };
        };
        let right = self.term()?;
        let has_no_order = |term: &Term| matches!(term, Term::Text(_));
        if !matches!(order, Order::Is | Order::IsNot) && (has_no_order(&left) || has_no_order(&right)) {
            self.at = place;
            return Err(self.wrong("only numbers have an order; write == or !="));
        }
        Ok(Expression::Compare(left, order, right))
    }

    fn order(&mut self) -> Option<Order> {
        let orders = [
            ("==", Order::Is),
            ("!=", Order::IsNot),
            ("<=", Order::AtMost),
            (">=", Order::AtLeast),
            ("<", Order::Less),
            (">", Order::More),
            ("=", Order::Is),
        ];
        orders.into_iter().find(|(sign, _)| self.takes(sign)).map(|(_, order)| order)
    }

    fn no_process(&self, word: &str) -> String {
        format!("there is no {word}; there are p0 to p{}", self.processes.saturating_sub(1))
    }

    /// A name: letters, digits, dots and brackets.
    fn word(&mut self) -> Option<String> {
        self.blanks();
        let begins = |c: &char| c.is_alphabetic() || *c == '_';
        if !self.chars.get(self.at).is_some_and(begins) {
            return None;
        }
        let goes_on = |c: &&char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
        let mut word: String = self.chars[self.at..].iter().take_while(goes_on).collect();
        // Two dots are a range.
        if let Some(range) = word.find("..") {
            word.truncate(range);
        }
        self.at += word.chars().count();
        Some(word)
    }

    fn number(&mut self) -> Option<i128> {
        self.blanks();
        let sign = usize::from(self.chars.get(self.at) == Some(&'-'));
        let digits = self.chars[self.at + sign..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let text: String = self.chars[self.at..self.at + sign + digits].iter().collect();
        self.at += sign + digits;
        text.parse().ok()
    }

    fn term(&mut self) -> Result<Term, PredicateError> {
        self.blanks();
        let begin = self.at;
        if let Some(number) = self.number() {
            return Ok(Term::Number(number));
        }
        if self.at > begin {
            self.at = begin;
            return Err(self.wrong("this number is too large"));
        }
        // As variables are shown.
        if self.takes(NOBODY) {
            return Ok(Term::Text(NOBODY.to_owned()));
        }
        let Some(word) = self.word() else {
            return Err(self.wrong("a value is missing here: a variable, a number, true, false, none or p0"));
        };
        let text = match word.as_str() {
            "true" | "false" => Some(word.clone()),
            "none" => Some(NOBODY.to_owned()),
            "count" if self.takes("@") => return Ok(Term::Count(self.place()?)),
            word => match process(word) {
                Some(p) if p >= self.processes => {
                    self.at = begin;
                    return Err(self.wrong(self.no_process(word)));
                }
                Some(_) => Some(word.to_owned()),
                None => None,
            },
        };
        if let Some(text) = text {
            return Ok(Term::Text(text));
        }
        let variable = self.variable(&word).map(Term::Variable).or_else(|| {
            let (name, field) = word.rsplit_once('.')?;
            let v = self.variable(name)?;
            let (lowest, bits) = self.layout.var(v).field(Some(field))?;
            Some(Term::Field(v, lowest, bits))
        });
        variable.ok_or_else(|| {
            self.at = begin;
            if let Some((name, field)) = word.rsplit_once('.')
                && let Some(v) = self.variable(name)
            {
                let fields: Vec<&str> = self.layout.var(v).field_names().collect();
                let has = if fields.is_empty() { "none".to_owned() } else { fields.join(", ") };
                return self.wrong(format!("{name} has no field {field:?}; it has {has}"));
            }
            let mut names = self.layout.names();
            let more = if names.len() > 12 { ", ..." } else { "" };
            names.truncate(12);
            self.wrong(format!("there is no variable {word:?}; there are {}{more}", names.join(", ")))
        })
    }

    /// A variable by its full name, or by the end of it if that is unique.
    fn variable(&self, name: &str) -> Option<VarId> {
        let all = || (0..).zip(self.layout.names());
        if let Some((v, _)) = all().find(|(_, path)| *path == name) {
            return Some(v);
        }
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|outer| outer.ends_with('.'));
        let mut short = all().filter(|(_, path)| ends(path)).map(|(v, _)| v);
        short.next().filter(|_| short.next().is_none())
    }

    fn place(&mut self) -> Result<Place, PredicateError> {
        self.blanks();
        let begin = self.at;
        let word = self.word().unwrap_or_default();
        let place = match word.as_str() {
            "inside" => Place::In(Phase::Inside),
            "entry" => Place::In(Phase::Entry),
            "exit" => Place::In(Phase::Exit),
            "outside" => Place::In(Phase::Remainder),
            "waits" => Place::Waits,
            "asleep" => Place::Asleep,
            "crashed" => Place::Crashed,
            word => return self.statements(begin, word),
        };
        Ok(place)
    }

    /// `8`, `3..6`, `{3,5..7}`, and the same after a part and a dot.
    fn statements(&mut self, begin: usize, word: &str) -> Result<Place, PredicateError> {
        // The statement may have been read together with its part: go back to behind the last dot.
        let part = match word.rfind('.') {
            Some(dot) => {
                self.at = begin + word[..=dot].chars().count();
                let name = &word[..dot];
                let Some(part) = self.layout.part_by_path(name) else {
                    self.at = begin;
                    return Err(self.wrong(format!("there is no part {name:?}; *Source* and traces name the parts")));
                };
                Some(part)
            }
            None if !word.is_empty() => {
                self.at = begin;
                return Err(self.wrong(format!(
                    "{word:?} is not a place; write a statement, inside, entry, exit, outside, waits, asleep or crashed"
                )));
            }
            None => None,
        };
        let mut labels = Vec::new();
        if self.takes("{") {
            loop {
                labels.push(self.range()?);
                if self.takes("}") {
                    break;
                }
                if !self.takes(",") {
                    return Err(self.wrong("expected , or } here"));
                }
            }
        } else {
            labels.push(self.range()?);
        }
        Ok(Place::Statements(part, labels))
    }

    fn range(&mut self) -> Result<(Label, Label), PredicateError> {
        let from = self.label()?;
        let to = if self.takes("..") { self.label()? } else { from };
        if to < from {
            return Err(self.wrong(format!("no statement is in {from}..{to}; write {to}..{from}")));
        }
        Ok((from, to))
    }

    fn label(&mut self) -> Result<Label, PredicateError> {
        self.blanks();
        let begin = self.at;
        let number = self.number().and_then(|number| Label::try_from(number).ok());
        number.ok_or_else(|| {
            let is_number = self.at > begin;
            self.at = begin;
            self.wrong(if is_number { "there is no such statement" } else { "a statement number is missing here" })
        })
    }
}

/// `p3` is 3.
fn process(word: &str) -> Option<usize> {
    word.strip_prefix('p').filter(|digits| digits.chars().all(|c| c.is_ascii_digit()))?.parse().ok()
}
