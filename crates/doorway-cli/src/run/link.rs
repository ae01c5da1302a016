//! The messages between the wrapper and the guardian. If one has died, the other reads end of file.

use super::native::Signal;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use std::cell::Cell;

/// One end of the link, and whether the other end died with unread messages.
pub(super) struct Link(OwnedFd, Cell<bool>);

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Message {
    /// To the guardian: a signal has arrived, and whether the wrapper was started with it ignored.
    Signal(Signal, bool),
    /// To the guardian: begin.
    Go,
    /// A line for a terminal, while the guardian waits.
    Waiting(String),
    /// A line for people to read.
    Say(String),
    /// There is a slot; the guardian waits for [`Message::Go`].
    Granted,
    /// The command was stopped by this signal; without a process, the wrapper must stop.
    Stopped { signal: i32, process: i32 },
    /// The end: the exit code, the signal that killed the command or ended the wait, and whether
    /// the guardian stays because other processes are left.
    Ended { code: u8, signal: u8, stays: bool },
    /// The end, before the command started.
    Failed { code: u8, why: String },
}

impl Message {
    fn encode(&self) -> Vec<u8> {
        let text = |kind: u8, text: &str| [&[kind], text.as_bytes()].concat();
        match self {
            Self::Signal(signal, ignored) => {
                let flags = u8::from(*ignored) | u8::from(signal.by_terminal) << 1;
                [&[b's', signal.number as u8, flags][..], &signal.sender.to_le_bytes()].concat()
            }
            Self::Go => vec![b'g'],
            Self::Waiting(line) => text(b'w', line),
            Self::Say(line) => text(b'y', line),
            Self::Granted => vec![b'p'],
            Self::Stopped { signal, process } => [&[b't', *signal as u8][..], &process.to_le_bytes()].concat(),
            Self::Ended { code, signal, stays } => vec![b'e', *code, *signal, u8::from(*stays)],
            Self::Failed { code, why } => [&[b'f', *code], why.as_bytes()].concat(),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(match *bytes {
            [b's', number, flags, a, b, c, d] => {
                let sender = u32::from_le_bytes([a, b, c, d]);
                Self::Signal(Signal { number: number.into(), sender, by_terminal: flags & 2 != 0 }, flags & 1 != 0)
            }
            [b'g'] => Self::Go,
            [b'w', ref line @ ..] => Self::Waiting(text(line)),
            [b'y', ref line @ ..] => Self::Say(text(line)),
            [b'p'] => Self::Granted,
            [b't', signal, a, b, c, d] => {
                Self::Stopped { signal: signal.into(), process: i32::from_le_bytes([a, b, c, d]) }
            }
            [b'e', code, signal, stays] => Self::Ended { code, signal, stays: stays != 0 },
            [b'f', code, ref why @ ..] => Self::Failed { code, why: text(why) },
            _ => return None,
        })
    }
}

impl Link {
    pub(super) fn pair() -> std::io::Result<(Self, Self)> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one, Cell::default()), Self(other, Cell::default())))
    }

    /// Tells the other end, if it lives. A line that is too long for a stopped wrapper is lost.
    ///
    /// Returns whether the other end was alive: after `false` it will never hear this.
    pub(super) fn tell(&self, message: &Message) -> bool {
        let flags = match message {
            Message::Waiting(_) | Message::Say(_) => SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            _ => SendFlags::NOSIGNAL,
        };
        let sent = send(&self.0, &message.encode(), flags);
        if sent == Err(Errno::CONNRESET) {
            self.1.set(true);
        }
        sent.is_ok()
    }

    /// Whether the other end died before it heard the last message.
    pub(super) fn was_not_heard(&self) -> bool {
        self.1.get()
    }

    /// The next message of the other end; `None` if it has died. Blocks.
    pub(super) fn hear(&self) -> Option<Message> {
        let mut bytes = [0_u8; 16 << 10];
        loop {
            match recv(&self.0, &mut bytes, RecvFlags::empty()) {
                Ok((_, 0)) => return None,
                Ok((_, length)) => {
                    if let Some(message) = Message::decode(&bytes[..length.min(bytes.len())]) {
                        return Some(message);
                    }
                }
                // The other end died with unread messages. What it told before comes next.
                Err(Errno::CONNRESET) => self.1.set(true),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard_and_the_end_too() {
        let (one, other) = Link::pair().unwrap();
        let signal = Signal { number: 15, sender: 70_000, by_terminal: true };
        let all = [
            Message::Signal(signal, true),
            Message::Go,
            Message::Waiting("ä".to_owned()),
            Message::Say(String::new()),
            Message::Granted,
            Message::Stopped { signal: 20, process: 70_000 },
            Message::Ended { code: 130, signal: 2, stays: true },
            Message::Failed { code: 125, why: "why".to_owned() },
        ];
        for message in &all {
            one.tell(message);
        }
        assert_eq!(std::array::from_fn(|_| other.hear().unwrap()), all);
        drop(one);
        assert_eq!(other.hear(), None);
        other.tell(&Message::Go); // no process is there, and no signal comes
    }

    #[test]
    fn the_last_words_of_one_that_did_not_listen_are_heard() {
        let (one, other) = Link::pair().unwrap();
        other.tell(&Message::Go);
        one.tell(&Message::Granted);
        drop(one);
        assert_eq!(other.hear(), Some(Message::Granted));
        assert_eq!(other.hear(), None);
    }
}
