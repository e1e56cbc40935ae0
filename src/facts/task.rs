//! What happens to a task.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Exit, InputEvidence, Need, RejectionReason, StopSignal, TaskStatus};
use crate::envelope::Actor;
use crate::terminal::Size;

/// One event of a task.
///
/// As JSON it is `{"at", "actor", "what", "note", "bytes"}`: the word of the fact, its details in a few words (never
/// typed text), and bytes where that makes sense, else null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What.
    pub fact: TaskFact,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TaskFact {
    /// It waits for the operator's approval; why.
    Held(String),
    /// The operator approved it, with a note.
    Approved(String),
    /// The operator denied it, with a note.
    Denied(String),
    /// Its shell runs.
    Start,
    /// It began to wait for input.
    Waiting(Need, InputEvidence),
    /// It outlived its call; or it was kept as a task because of the processes it left behind.
    Promoted {
        /// It was kept because of its leftovers.
        kept: bool,
    },
    /// So many bytes were typed into it.
    Input(u64),
    /// An input was refused.
    Refused(RejectionReason),
    /// The operator took its input.
    Lease,
    /// The operator's lease ended.
    Released,
    /// Its terminal has another size.
    Resize(Size),
    /// It is being stopped.
    Stop {
        /// KILL was asked for at once.
        force: bool,
        /// Why, where there is more to say than who.
        why: Option<String>,
    },
    /// It was sent a signal.
    Signal(StopSignal),
    /// Its time was over.
    Timeout,
    /// It wrote more than so many bytes.
    OutputLimit(u64),
    /// Its terminal's parser failed and was rebuilt from the log.
    ScreenReset,
    /// Its shell ended.
    Exit(Exit),
    /// Names of processes that were still alive after its shell.
    Leftovers(Vec<String>),
    /// It has ended.
    End(TaskStatus),
}

impl TaskFact {
    /// Returns its word: `output_limit`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.into()
    }

    /// Returns its details in a few words.
    #[must_use]
    pub fn note(&self) -> Cow<'_, str> {
        match self {
            Self::Held(text) | Self::Approved(text) | Self::Denied(text) => Cow::Borrowed(text),
            Self::Waiting(need, evidence) => {
                let (need, evidence): (&str, &str) = (need.into(), evidence.into());
                format!("{need}, {}", evidence.replace('_', " ")).into()
            }
            Self::Promoted { kept: true } => "kept".into(),
            Self::Refused(reason) => reason.as_str().into(),
            Self::Lease => "taken".into(),
            Self::Resize(size) => format!("{}x{}", size.cols(), size.rows()).into(),
            Self::Stop { force, why } => {
                let word = if *force { "KILL" } else { "TERM" };
                why.as_ref().map_or(word.into(), |why| format!("{word}, {why}").into())
            }
            Self::Signal(signal) => <&str>::from(signal).into(),
            Self::ScreenReset => "rebuilt from the log".into(),
            Self::Exit(Exit::Code(code)) => format!("exit {code}").into(),
            Self::Exit(Exit::Signal(name)) => name.as_str().into(),
            Self::Leftovers(names) => names.join(" ").into(),
            Self::End(status) => status.as_str().into(),
            Self::Start | Self::Promoted { kept: false } | Self::Input(_) | Self::Released => "".into(),
            Self::Timeout | Self::OutputLimit(_) => "".into(),
        }
    }

    /// Returns the bytes concerned, where that makes sense.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Input(bytes) | Self::OutputLimit(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// Reads a fact from the words of a row. None when they say nothing known.
    #[must_use]
    pub fn parse(what: &str, note: &str, bytes: Option<u64>) -> Option<Self> {
        let text = || note.to_owned();
        let bytes = bytes.unwrap_or_default();
        Some(match what {
            "held" => Self::Held(text()),
            "approved" => Self::Approved(text()),
            "denied" => Self::Denied(text()),
            "start" => Self::Start,
            "waiting" => {
                let (need, evidence) = note.split_once(", ")?;
                Self::Waiting(need.parse().ok()?, evidence.replace(' ', "_").parse().ok()?)
            }
            "promoted" => Self::Promoted { kept: note == "kept" },
            "input" => Self::Input(bytes),
            "refused" => Self::Refused(note.parse().ok()?),
            "lease" => Self::Lease,
            "released" => Self::Released,
            "resize" => {
                let (cols, rows) = note.split_once('x')?;
                Self::Resize(Size::clamped(cols.parse().ok()?, rows.parse().ok()?))
            }
            "stop" => {
                let (word, why) = note.split_once(", ").map_or((note, None), |(word, why)| (word, Some(why)));
                Self::Stop { force: word == "KILL", why: why.map(str::to_owned) }
            }
            "signal" => Self::Signal(note.parse().ok()?),
            "timeout" => Self::Timeout,
            "output_limit" => Self::OutputLimit(bytes),
            "screen_reset" => Self::ScreenReset,
            "exit" => Self::Exit(match note.strip_prefix("exit ") {
                Some(code) => Exit::Code(code.parse().ok()?),
                None => Exit::Signal(text()),
            }),
            "leftovers" => Self::Leftovers(note.split_ascii_whitespace().map(str::to_owned).collect()),
            "end" => Self::End(note.parse().ok()?),
            _ => return None,
        })
    }
}

/// An event as it stands in a row.
#[derive(Serialize, Deserialize)]
struct Words<'a> {
    at: Timestamp,
    actor: Actor,
    what: Cow<'a, str>,
    note: Cow<'a, str>,
    bytes: Option<u64>,
}

impl Serialize for TaskEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fact = &self.fact;
        let (what, note, bytes) = (fact.word().into(), fact.note(), fact.bytes());
        Words { at: self.at, actor: self.actor.clone(), what, note, bytes }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TaskEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Words { at, actor, what, note, bytes } = Words::deserialize(deserializer)?;
        let fact = TaskFact::parse(&what, &note, bytes);
        let fact = fact.ok_or_else(|| D::Error::custom(format_args!("no event of a task: {what} {note}")))?;
        Ok(Self { at, actor, fact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_read_back_from_its_words() {
        let facts = [
            TaskFact::Held("git push".into()),
            TaskFact::Approved(String::new()),
            TaskFact::Denied("not now, later".into()),
            TaskFact::Start,
            TaskFact::Waiting(Need::Secret, InputEvidence::EchoOff),
            TaskFact::Promoted { kept: true },
            TaskFact::Promoted { kept: false },
            TaskFact::Input(7),
            TaskFact::Refused(RejectionReason::HeldByOperator),
            TaskFact::Lease,
            TaskFact::Released,
            TaskFact::Resize(Size::clamped(120, 40)),
            TaskFact::Stop { force: false, why: None },
            TaskFact::Stop { force: true, why: Some("it received SIGTERM, and more".into()) },
            TaskFact::Signal(StopSignal::Usr1),
            TaskFact::Timeout,
            TaskFact::OutputLimit(1 << 20),
            TaskFact::ScreenReset,
            TaskFact::Exit(Exit::Code(-3)),
            TaskFact::Exit(Exit::Signal("SIGKILL".into())),
            TaskFact::Leftovers(vec!["sleep".into(), "node".into()]),
            TaskFact::End(TaskStatus::Interrupted),
        ];
        for fact in facts {
            let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: Actor::Operator, fact };
            let text = serde_json::to_string(&event).expect("written");
            assert_eq!(serde_json::from_str::<TaskEvent>(&text).expect("read"), event, "{text}");
        }
    }

    #[test]
    fn a_row_has_the_words_it_always_had() {
        let fact = TaskFact::Waiting(Need::Line, InputEvidence::TtyRead);
        let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: Actor::System, fact };
        let text = r#"{"at":"1970-01-01T00:00:00Z","actor":"system","what":"waiting","note":"line, tty read","bytes":null}"#;
        assert_eq!(serde_json::to_string(&event).expect("written"), text);
    }
}
