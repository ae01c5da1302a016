//! Faults as text.

use super::{Change, Fault, Faults, Index, Kind, Place, Target, Times, Value, When};
use std::fmt;
use std::str::FromStr;

/// A text that is not a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultError(String);

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a fault; write one such as drop:7, drop:slot1.4=0, defer:7, split:7, nowait:5, read:7+1, \
             write:7=p0, to:5:flag[me], wait:7:flag[me+1]=false, set:7:turn=1 or init:X=2, and separate several by commas",
            self.0
        )
    }
}
impl std::error::Error for FaultError {}

/// The leading number of a text, and the rest.
fn number<T: FromStr>(text: &str) -> Option<(T, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn value(text: &str) -> Option<Value> {
    Some(match text {
        "true" => Value::Bit(true),
        "false" => Value::Bit(false),
        "me" => Value::Me,
        "nobody" => Value::Nobody,
        "seen" => Value::Seen,
        "old" => Value::Old,
        _ => {
            let process = text.strip_prefix('p').and_then(|p| p.parse().ok()).map(Value::Process);
            let at = || text.strip_prefix("at").and_then(|label| label.parse().ok()).map(Value::At);
            process.or_else(at).or_else(|| text.parse().ok().map(Value::Number))?
        }
    })
}

fn change(text: &str) -> Option<Change> {
    if let Some(rest) = text.strip_prefix('#') {
        let (name, rest) = rest.split_at(rest.find(['=', '+', '-', '!'])?);
        return (!name.is_empty()).then(|| Some(Change::InField(name.to_owned(), Box::new(change(rest)?))))?;
    }
    match text.split_at_checked(1)? {
        ("!", "") => Some(Change::Not),
        ("=", rest) => match rest.split_once('>') {
            Some((old, new)) => Some(Change::Of(value(old)?, value(new)?)),
            None => value(rest).map(Change::Is),
        },
        ("+", rest) if rest.starts_with(char::is_alphabetic) => Some(Change::PlusField(rest.to_owned())),
        ("+", rest) => rest.parse().ok().map(Change::Plus),
        ("-", rest) => rest.parse().ok().map(|less: i64| Change::Plus(-less)),
        _ => None,
    }
}

/// A statement, and the rest of the text.
fn place(text: &str) -> Option<(Place, &str)> {
    // The statement is the first number that is not the end of a part's name.
    let end = text.find(['=', '>', ':', '+', '-', '!', '@', '<', '#', '[']).unwrap_or(text.len());
    let dot = text[..end].trim_end_matches("..").rfind('.').map_or(0, |dot| dot + 1);
    let label = &text[dot..];
    let end = dot + label.find(|c: char| !c.is_ascii_digit() && c != '*').unwrap_or(label.len());
    let (name, rest) = text.split_at(end);
    let (part, label) = name.rsplit_once('.').map_or((None, name), |(part, label)| (Some(part), label));
    if part.is_some_and(str::is_empty) {
        return None;
    }
    let (index, rest) = match rest.strip_prefix('[') {
        Some(rest) => number(rest).and_then(|(index, rest)| Some((Some(index), rest.strip_prefix(']')?)))?,
        None => (None, rest),
    };
    let (from, rest) = match rest.strip_prefix('<') {
        Some(rest) => number(rest).map(|(from, rest)| (Some(from), rest))?,
        None => (None, rest),
    };
    let (times, rest) = match rest.strip_prefix('x') {
        Some(rest) => {
            let (first, rest) = number(rest).filter(|(first, _)| *first > 0)?;
            let later = rest.strip_prefix("..");
            (Some(Times { first, and_later: later.is_some() }), later.unwrap_or(rest))
        }
        None => (None, rest),
    };
    let (process, rest) = match rest.strip_prefix("@p") {
        Some(rest) => number(rest).map(|(process, rest)| (Some(process), rest))?,
        None => (None, rest),
    };
    let label = if label == "*" { None } else { Some(label.parse().ok()?) };
    Some((Place { process, index, from, times, ..Place::of(part.map(str::to_owned), label) }, rest))
}

fn signed(text: &str) -> Option<i64> {
    if text.is_empty() { Some(0) } else { text.starts_with(['+', '-']).then(|| text.parse().ok())? }
}

fn index(text: &str) -> Option<Index> {
    if let Some(rest) = text.strip_prefix("me") {
        return signed(rest).map(Index::FromMe);
    }
    if text.starts_with(['+', '-']) { signed(text).map(Index::FromHere) } else { text.parse().ok().map(Index::Is) }
}

fn target(text: &str) -> Option<Target> {
    let (text, field) = text.split_once('#').map_or((text, None), |(text, field)| (text, Some(field.to_owned())));
    let (path, index) = match text.strip_suffix(']') {
        Some(text) => text.split_once('[').and_then(|(path, i)| Some((path, Some(index(i)?))))?,
        None => (text, None),
    };
    let (part, name) = path.rsplit_once('.').map_or((None, path), |(part, name)| (Some(part.to_owned()), name));
    let is_name = name.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
    let is_whole = !name.is_empty() || matches!(index, Some(Index::FromHere(_)));
    (is_name && is_whole).then(|| Target { part, name: name.to_owned(), index, field })
}

/// `VAR=VALUE` or `VAR!=VALUE`.
fn condition(text: &str) -> Option<(Target, bool, Value)> {
    let (name, word) = text.rsplit_once('=')?;
    let (name, equal) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
    Some((target(name)?, equal, value(word)?))
}

/// A variable, and its change.
fn changed(text: &str) -> Option<(Target, Change)> {
    let end = text.rfind(['=', '+', '-', '!']).filter(|&end| !text[end..].contains(']'))?;
    // `=-1` is a value, not a decrement.
    let end = if text[..end].ends_with('=') { end - 1 } else { end };
    Some((target(&text[..end])?, change(&text[end..])?))
}

fn fault(text: &str) -> Option<Fault> {
    let (kind, rest) = text.split_once(':')?;
    if kind == "atomic" {
        return target(rest).map(Fault::Atomic);
    }
    if kind == "home" {
        let (name, process) = rest.rsplit_once("=p")?;
        return Some(Fault::Home(target(name)?, process.parse().ok()?));
    }
    if kind == "bits" {
        let (name, bits) = rest.rsplit_once('=')?;
        return Some(Fault::Bits(target(name)?, bits.parse().ok().filter(|bits| (1..=64).contains(bits))?));
    }
    if kind == "init" {
        return changed(rest).map(|(target, change)| Fault::Init(target, change));
    }
    let (at, rest) = place(rest)?;
    let told = |text: &str| match text.strip_prefix('=') {
        Some(word) => value(word).map(Some),
        None => text.is_empty().then_some(None),
    };
    let when = if kind.starts_with("then-") { When::After } else { When::Before };
    let kind = match kind {
        "drop" => Kind::Drop(told(rest)?),
        "defer" => {
            let (until, rest) = match rest.strip_prefix('>') {
                Some(rest) => place(rest).map(|(until, rest)| (Some(until), rest))?,
                None => (None, rest),
            };
            Kind::Defer(until, told(rest)?)
        }
        "split" if rest.is_empty() => Kind::Split,
        "blind" if rest.is_empty() => Kind::Blind,
        "force" if rest.is_empty() => Kind::Force,
        "insist" if rest.is_empty() => Kind::Insist,
        "nowait" if rest.is_empty() => Kind::NoWait,
        "read" => Kind::Read(change(rest)?),
        "write" => Kind::Write(change(rest)?),
        "to" => Kind::To(target(rest.strip_prefix(':')?)?),
        "also" | "then-also" => {
            let rest = rest.strip_prefix(':')?;
            match changed(rest) {
                Some((target, change)) => Kind::Also(when, target, Some(change)),
                None => Kind::Also(when, target(rest)?, None),
            }
        }
        "expect" => Kind::Expect(change(rest)?),
        "early" => {
            let (early, told) = rest.strip_prefix(':')?.split_once('>')?;
            let (told, "") = place(told)? else { return None };
            Kind::Early(target(early)?, told)
        }
        "wait" | "then-wait" => {
            let (target, equal, value) = condition(rest.strip_prefix(':')?)?;
            Kind::Wait(when, target, equal, value)
        }
        "set" | "then-set" => match changed(rest.strip_prefix(':')?)? {
            (target, change @ Change::Plus(_)) => Kind::Set(when, target, change),
            (target, change @ Change::Is(_)) if target.field.is_none() => Kind::Set(when, target, change),
            _ => return None,
        },
        _ => return None,
    };
    Some(Fault::At(at, kind))
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        fault(text.trim()).ok_or_else(|| FaultError(text.to_owned()))
    }
}

impl FromStr for Faults {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        text.split(',').map(str::parse).collect::<Result<Vec<_>, _>>().map(Self::new)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.all().iter().enumerate() {
            write!(f, "{}{fault}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, kind) = match self {
            Self::At(place, kind) => (place, kind),
            Self::Init(target, change) => return write!(f, "init:{target}{change}"),
            Self::Atomic(target) => return write!(f, "atomic:{target}"),
            Self::Home(target, process) => return write!(f, "home:{target}=p{process}"),
            Self::Bits(target, bits) => return write!(f, "bits:{target}={bits}"),
        };
        match kind {
            Kind::Drop(told) => write!(f, "drop:{place}{}", Told(*told)),
            Kind::Defer(None, told) => write!(f, "defer:{place}{}", Told(*told)),
            Kind::Defer(Some(until), told) => write!(f, "defer:{place}>{until}{}", Told(*told)),
            Kind::Split => write!(f, "split:{place}"),
            Kind::Blind => write!(f, "blind:{place}"),
            Kind::Force => write!(f, "force:{place}"),
            Kind::Insist => write!(f, "insist:{place}"),
            Kind::NoWait => write!(f, "nowait:{place}"),
            Kind::Read(change) => write!(f, "read:{place}{change}"),
            Kind::Write(change) => write!(f, "write:{place}{change}"),
            Kind::To(target) => write!(f, "to:{place}:{target}"),
            Kind::Wait(when, target, equal, value) => {
                write!(f, "{when}wait:{place}:{target}{}={value}", if *equal { "" } else { "!" })
            }
            Kind::Set(when, target, change) => write!(f, "{when}set:{place}:{target}{change}"),
            Kind::Also(when, target, None) => write!(f, "{when}also:{place}:{target}"),
            Kind::Also(when, target, Some(change)) => write!(f, "{when}also:{place}:{target}{change}"),
            Kind::Expect(change) => write!(f, "expect:{place}{change}"),
            Kind::Early(target, told) => write!(f, "early:{place}:{target}>{told}"),
        }
    }
}

struct Told(Option<Value>);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |value| write!(f, "={value}"))
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::After { "then-" } else { "" })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{part}.")?;
        }
        match self.label {
            Some(label) => write!(f, "{label}")?,
            None => f.write_str("*")?,
        }
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        if let Some(from) = self.from {
            write!(f, "<{from}")?;
        }
        if let Some(Times { first, and_later }) = self.times {
            write!(f, "x{first}{}", if and_later { ".." } else { "" })?;
        }
        self.process.map_or(Ok(()), |p| write!(f, "@p{p}"))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.name)?;
        match self.index {
            None => Ok(()),
            Some(Index::Is(i)) => write!(f, "[{i}]"),
            Some(Index::FromMe(0)) => write!(f, "[me]"),
            Some(Index::FromMe(by)) => write!(f, "[me{by:+}]"),
            Some(Index::FromHere(by)) => write!(f, "[{by:+}]"),
        }?;
        self.field.as_ref().map_or(Ok(()), |field| write!(f, "#{field}"))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(f, "={value}"),
            Self::Of(old, new) => write!(f, "={old}>{new}"),
            Self::Plus(by) => write!(f, "{by:+}"),
            Self::Not => write!(f, "!"),
            Self::PlusField(other) => write!(f, "+{other}"),
            Self::InField(name, change) => write!(f, "#{name}{change}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Bit(bit) => write!(f, "{bit}"),
            Self::Process(p) => write!(f, "p{p}"),
            Self::Me => write!(f, "me"),
            Self::Nobody => write!(f, "nobody"),
            Self::Seen => write!(f, "seen"),
            Self::Old => write!(f, "old"),
            Self::At(label) => write!(f, "at{label}"),
        }
    }
}
