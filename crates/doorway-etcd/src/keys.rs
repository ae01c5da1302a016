//! The text's keys and transactions as those of etcd.

use doorway_core::k_assignment::leases::{Answer, Chair, Compare, Held, Key, Op, Outcome, Receipt, Txn};
use etcd_client::{
    Compare as Cmp, CompareOp, GetOptions, KeyValue, PutOptions, SortOrder, SortTarget, Txn as EtcdTxn, TxnOp,
    TxnOpResponse, TxnResponse,
};

/// The keys of one name.
///
/// | key | value | attached to |
/// |---|---|---|
/// | `PREFIX/NAME/.k` | the number of slots | |
/// | `PREFIX/NAME/.m/LEASE` | host, process and label, on a line each | the lease |
/// | `PREFIX/NAME/.r/LEASE.CHAIR` | the receipt | the lease |
/// | `PREFIX/NAME/.q/s/SLOT` | `LEASE.CHAIR`, which holds it | the lease |
/// | `PREFIX/NAME/.q/w/LEASE.CHAIR` | empty: it waits | the lease |
///
/// Keys that are not written like this may lie among them. A key among the waiting ones that cannot
/// be read counts as one that waits, because the comparisons count it. A slot whose value cannot be
/// read is held. Both are those of [`FOREIGN`]. All other foreign keys are ignored, as they are by
/// the comparisons.
///
/// In a name, slashes, percent signs and a dot at its beginning are escaped. So no key of one name
/// lies among those of another.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// Ends with a slash, as the other two do.
    root: String,
    slots: String,
    waiting: String,
    pub(crate) k: usize,
}

/// The lease of what is not ours: no lease has this number.
pub(crate) const FOREIGN: u64 = 0;

/// A chair for a key or a value that cannot be read; the same one for the same text.
fn foreign(text: &[u8]) -> Chair {
    let number = text
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    Chair { lease: FOREIGN, number }
}

impl Keys {
    pub(crate) fn new(prefix: &str, name: &str, k: usize) -> Self {
        let root = format!("{}/{}/", prefix.trim_end_matches('/'), escaped(name));
        let (slots, waiting) = (format!("{root}.q/s/"), format!("{root}.q/w/"));
        Self { root, slots, waiting, k }
    }

    pub(crate) fn size(&self) -> String {
        format!("{}.k", self.root)
    }

    pub(crate) fn members(&self) -> String {
        format!("{}.m/", self.root)
    }

    pub(crate) fn member(&self, lease: u64) -> String {
        format!("{}.m/{lease:x}", self.root)
    }

    /// What the mirror watches.
    pub(crate) fn queue(&self) -> String {
        format!("{}.q/", self.root)
    }

    fn key(&self, key: Key) -> String {
        match key {
            Key::Receipt(chair) => format!("{}.r/{}", self.root, written(chair)),
            Key::Waits(chair) => format!("{}{}", self.waiting, written(chair)),
            Key::Slot(slot) => format!("{}{slot}", self.slots),
        }
    }

    /// Which key this is. Every client asks that of every event.
    pub(crate) fn parse(&self, key: &[u8]) -> Option<Key> {
        if let Some(chair) = key.strip_prefix(self.waiting.as_bytes()) {
            let read = str::from_utf8(chair).ok().and_then(read);
            return Some(Key::Waits(read.unwrap_or_else(|| foreign(key))));
        }
        let key = str::from_utf8(key).ok()?;
        let Some(number) = key.strip_prefix(&self.slots) else {
            return key.strip_prefix(&self.root)?.strip_prefix(".r/").and_then(read).map(Key::Receipt);
        };
        let slot: usize = number.parse().ok()?;
        // `00` and `+0` are other keys than `0`.
        (slot.to_string() == number).then_some(Key::Slot(slot))
    }

    /// The holder of a slot, by its value.
    pub(crate) fn held(kv: &KeyValue) -> Held {
        let chair = kv.value_str().ok().and_then(read).unwrap_or_else(|| foreign(kv.value()));
        Held { chair, fence: revision(kv.mod_revision()) }
    }

    /// The lease whose member key this is.
    pub(crate) fn lease_of(&self, key: &[u8]) -> Option<u64> {
        let lease = str::from_utf8(key).ok()?.strip_prefix(&self.members())?;
        u64::from_str_radix(lease, 16).ok()
    }

    /// One transaction of the text.
    pub(crate) fn transaction(&self, txn: &Txn) -> EtcdTxn {
        let all = |ops: &[Op]| ops.iter().map(|op| self.op(op)).collect::<Vec<_>>();
        EtcdTxn::new()
            .when(txn.when.iter().map(|compare| self.compare(*compare)).collect::<Vec<_>>())
            .and_then(all(&txn.then))
            .or_else(all(&txn.otherwise))
    }

    fn compare(&self, compare: Compare) -> Cmp {
        match compare {
            Compare::Changed(key, at) => Cmp::mod_revision(self.key(key), CompareOp::Equal, at as i64),
            Compare::Created(key, at) => Cmp::create_revision(self.key(key), CompareOp::Equal, at as i64),
            // Of a range, every key is compared; an empty one counts as a key that was created at
            // 0.
            Compare::NobodyWaits => Cmp::create_revision(self.waiting.as_str(), CompareOp::Equal, 0).with_prefix(),
            Compare::NobodyWaitsBefore(ticket) => {
                Cmp::create_revision(self.waiting.as_str(), CompareOp::Greater, ticket as i64 - 1).with_prefix()
            }
        }
    }

    fn op(&self, op: &Op) -> TxnOp {
        let attached = |chair: &Chair| Some(PutOptions::new().with_lease(chair.lease as i64));
        match op {
            Op::PutReceipt(chair, outcome) => {
                let value = match outcome {
                    Outcome::Granted(slot) => format!("granted {slot}"),
                    Outcome::Waits => "waits".to_owned(),
                    Outcome::Refused => "refused".to_owned(),
                };
                TxnOp::put(self.key(Key::Receipt(*chair)), value, attached(chair))
            }
            Op::PutWaits(chair) => TxnOp::put(self.key(Key::Waits(*chair)), "", attached(chair)),
            Op::PutSlot(slot, chair) => TxnOp::put(self.key(Key::Slot(*slot)), written(*chair), attached(chair)),
            Op::Delete(key) => TxnOp::delete(self.key(*key), None),
            Op::Nested(txn) => TxnOp::txn(self.transaction(txn)),
            Op::ReadReceipt(chair) => TxnOp::get(self.key(Key::Receipt(*chair)), None),
            Op::ReadWaits(chair) => TxnOp::get(self.key(Key::Waits(*chair)), None),
            Op::ReadSlots => TxnOp::get(self.slots.as_str(), Some(GetOptions::new().with_prefix())),
            Op::ReadOldest => {
                let oldest = GetOptions::new().with_prefix().with_sort(SortTarget::Create, SortOrder::Ascend);
                TxnOp::get(self.waiting.as_str(), Some(oldest.with_limit(1)))
            }
        }
    }

    /// The answer to a transaction of this chair.
    pub(crate) fn answer(&self, response: &TxnResponse, me: Option<Chair>) -> Answer {
        let at = response.header().map_or(0, |header| revision(header.revision()));
        let mut answer = Answer { done: response.succeeded(), revision: at, k: self.k, ..Answer::default() };
        self.collect(response, me, &mut answer);
        answer
    }

    fn collect(&self, response: &TxnResponse, me: Option<Chair>, answer: &mut Answer) {
        for part in response.op_responses() {
            match part {
                TxnOpResponse::Txn(nested) => self.collect(&nested, me, answer),
                TxnOpResponse::Get(get) => get.kvs().iter().for_each(|kv| self.read(kv, me, answer)),
                TxnOpResponse::Put(_) | TxnOpResponse::Delete(_) => {}
            }
        }
    }

    fn read(&self, kv: &KeyValue, me: Option<Chair>, answer: &mut Answer) {
        match self.parse(kv.key()) {
            Some(Key::Receipt(_)) => {
                let outcome = match kv.value_str() {
                    Ok("waits") => Some(Outcome::Waits),
                    Ok("refused") => Some(Outcome::Refused),
                    Ok(other) => other.strip_prefix("granted ").and_then(|i| i.parse().ok()).map(Outcome::Granted),
                    Err(_) => None,
                };
                let changed = revision(kv.mod_revision());
                answer.receipt = outcome.map(|outcome| Receipt { outcome, changed });
            }
            Some(Key::Waits(chair)) => {
                let ticket = revision(kv.create_revision());
                answer.oldest = Some(ticket);
                if Some(chair) == me {
                    answer.waits = Some(ticket);
                }
            }
            Some(Key::Slot(slot)) => answer.slots.push((slot, Self::held(kv))),
            None => {}
        }
    }
}

fn escaped(name: &str) -> String {
    let text = name.replace('%', "%25").replace('/', "%2F");
    match text.strip_prefix('.') {
        Some(rest) => format!("%2E{rest}"),
        None => text,
    }
}

pub(crate) fn revision(of: i64) -> u64 {
    of.max(0).unsigned_abs()
}

fn written(Chair { lease, number }: Chair) -> String {
    format!("{lease:x}.{number:x}")
}

fn read(chair: &str) -> Option<Chair> {
    let (lease, number) = chair.split_once('.')?;
    let (lease, number) = (u64::from_str_radix(lease, 16).ok()?, u64::from_str_radix(number, 16).ok()?);
    // Another way to write the same chair is another key.
    Some(Chair { lease, number }).filter(|read| read.lease != FOREIGN && written(*read) == chair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let keys = Keys::new("doorway/", "gpus/a100", 4);
        let chair = Chair { lease: 0x7fff_0123, number: 17 };
        for key in [Key::Receipt(chair), Key::Waits(chair), Key::Slot(3)] {
            assert_eq!(keys.parse(keys.key(key).as_bytes()), Some(key));
        }
        assert_eq!(keys.key(Key::Waits(chair)), "doorway/gpus%2Fa100/.q/w/7fff0123.11");
        assert_eq!(keys.lease_of(keys.member(chair.lease).as_bytes()), Some(chair.lease));
        for foreign in ["doorway/gpus/.q/s/1", "doorway/gpus/.q/w/1.2", "doorway/gpus%2Fa100/.x"] {
            assert_eq!(keys.parse(foreign.as_bytes()), None, "{foreign}");
        }
        for number in ["-1", "+0", "00", "01", " 1", "", "0x1", "99999999999999999999"] {
            assert_eq!(keys.parse(format!("{}{number}", keys.slots).as_bytes()), None, "{number:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_waits() {
        let keys = Keys::new("doorway", "gpus", 4);
        let all: [&[u8]; 9] = [b"", b"x", b"1", b"01.2", b"+1.2", b"1.02", b"A.1", b"0.1", b"\xff"];
        let mut chairs = Vec::new();
        for text in all {
            let key = [keys.waiting.as_bytes(), text].concat();
            let Some(Key::Waits(chair)) = keys.parse(&key) else { panic!("{text:?}") };
            assert_eq!(chair.lease, FOREIGN, "{text:?}");
            assert_eq!(keys.parse(&key), Some(Key::Waits(chair)));
            chairs.push(chair);
        }
        chairs.sort_unstable();
        chairs.dedup();
        assert_eq!(chairs.len(), all.len());
    }

    #[test]
    fn no_name_lies_within_another() {
        let all = ["a", "a/.q/w", ".q", "a/.q", "%2Eq", "a%2F.q", "a/", "/"];
        let root = |name: &str| Keys::new("doorway", name, 1).root;
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            assert!(one == other || !root(one).starts_with(&root(other)), "{one} {other}");
        }
    }
}
