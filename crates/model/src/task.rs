//! The events of a task.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    CeilingHit, Exit, HoldReason, InputWait, LaneWait, ListenAddress, Listener, LostInput, RejectionReason,
    StopSignal, TakenPort, TaskStatus, TreeChanges, UnendedProcess,
};
use pilothouse_envelope::Actor;
use pilothouse_terminal::Size;

/// One event of a task.
///
/// In JSON an event is `{"at", "actor", "what", "note", "bytes"}`: the fact's name, a short description of its
/// details (never typed text), and a byte count where one makes sense, otherwise null. Optional further fields carry
/// details that the description leaves out: `pid`, `since`, `kill_at`, `ran_ms`, `error`, `survivors`, `listener`, `lane`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// When it happened.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// What happened.
    pub fact: TaskFact,
}

/// A change to a task: an event of its timeline, or a change that is only shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskUpdate {
    /// An event of the timeline.
    Event(TaskEvent),
    /// The task no longer waits for input.
    NotWaiting,
    /// The operator's lease now lasts until this time, unless another key extends it.
    LeasedUntil(Timestamp),
    /// The most memory that its processes have had together, in bytes.
    Peak(u64),
    /// The operator named the task, or removed its name.
    Named(Option<String>),
    /// What differs in the tree since the task began.
    Changed(TreeChanges),
    /// What differed since the task began was undone.
    Undone {
        /// It was brought back.
        is_redo: bool,
    },
    /// The task has printed a URL of what it listens on.
    Printed(ListenAddress, String),
    /// The task failed because an address was in use.
    PortTaken(TakenPort),
    /// The task has moved up in the queue of its lane.
    MovedUp(LaneWait),
    /// The caller has received the task's id and stopped waiting while the task is still held.
    Deferred,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TaskFact {
    /// The task waits for the operator's approval, for this reason.
    Held(HoldReason),
    /// The operator approved the task, with a note.
    Approved(String),
    /// The operator denied the task, with a note.
    Denied(String),
    /// The task waits for its turn in a lane.
    Queued(LaneWait),
    /// It is the task's turn, or the operator lets it pass.
    Admitted,
    /// The task's shell was started.
    Start {
        /// The shell's process id; missing in recordings made before it was recorded.
        pid: Option<u32>,
    },
    /// The task began to wait for input.
    Waiting(InputWait),
    /// The task outlived its call, or was kept as a task because of processes it left behind.
    Promoted {
        /// The task was kept because of its leftovers.
        kept: bool,
    },
    /// The task continues although its caller is gone, for this reason.
    Outlived(String),
    /// This many bytes were typed into the task.
    Input(u64),
    /// Input that the task had taken was lost.
    InputLost(LostInput),
    /// Nobody answered in time, so the task was sent end-of-input.
    Unanswered,
    /// The task was seen to accept connections.
    Listening(Listener),
    /// The task no longer accepts connections there.
    Closed(ListenAddress),
    /// Input was refused.
    Refused(RejectionReason),
    /// The operator took a lease on the task's input.
    Lease,
    /// The operator's lease ended.
    Released,
    /// The task's terminal was resized.
    Resize(Size),
    /// The task is being stopped.
    Stop {
        /// KILL was requested immediately.
        force: bool,
        /// The reason, where it adds something to the actor.
        why: Option<String>,
        /// When the grace period ends and KILL follows; missing in recordings made before it was recorded.
        kill_at: Option<Timestamp>,
    },
    /// The task was sent a signal.
    Signal(StopSignal),
    /// The task's time limit was exceeded.
    Timeout,
    /// The task wrote more than this many bytes.
    OutputLimit(u64),
    /// The task met a ceiling.
    Ceiling(CeilingHit),
    /// The parser of the task's terminal failed and was rebuilt from the log.
    ScreenReset,
    /// The task's shell exited.
    Exit(Exit),
    /// Names of processes that outlived the task's shell and are still part of the command.
    AtWork(Vec<String>),
    /// Names of processes that outlived the task's shell and keep running as the task.
    Kept(Vec<String>),
    /// Names of processes that outlived the task's shell and are ended.
    Leftovers(Vec<String>),
    /// The task has ended. Older recordings hold only the status.
    End {
        /// The final status.
        status: TaskStatus,
        /// How long the task ran, in milliseconds of the monotonic clock.
        ran_ms: Option<u64>,
        /// Kind and message of an error that no earlier event reported.
        error: Option<(String, String)>,
        /// The processes that could not be ended.
        survivors: Vec<UnendedProcess>,
        /// The most memory that its processes had together, in bytes, where that was measured.
        peak_memory: Option<u64>,
    },
}

/// What the note of lost input says if the program may have read some of it.
const AT_MOST: &str = "at most";

impl TaskFact {
    /// Returns the fact's name, e.g. `output_limit`.
    pub fn word(&self) -> &'static str {
        self.into()
    }

    /// Returns a short description of the details.
    pub fn note(&self) -> Cow<'_, str> {
        match self {
            Self::Held(reason) => reason.as_str().into(),
            Self::Queued(wait) => wait.to_string().into(),
            Self::Approved(text) | Self::Denied(text) | Self::Outlived(text) => Cow::Borrowed(text),
            Self::Waiting(InputWait { kind, evidence, .. }) => {
                let (need, evidence): (&str, &str) = (kind.into(), evidence.into());
                format!("{need}, {}", evidence.replace('_', " ")).into()
            }
            Self::Promoted { kept: true } => "kept".into(),
            Self::Listening(listener) => listener.in_words().into(),
            Self::Closed(at) => at.to_string().into(),
            Self::Refused(reason) => reason.as_str().into(),
            Self::InputLost(lost) => {
                let cause: &str = lost.cause.into();
                if lost.at_most { format!("{cause}, {AT_MOST}").into() } else { cause.into() }
            }
            Self::Lease => "taken".into(),
            Self::Resize(size) => format!("{}x{}", size.cols(), size.rows()).into(),
            Self::Stop { force, why, .. } => {
                let word = if *force { "KILL" } else { "TERM" };
                why.as_ref().map_or(word.into(), |why| format!("{word}, {why}").into())
            }
            Self::Signal(signal) => <&str>::from(signal).into(),
            Self::Ceiling(hit) => hit.to_string().into(),
            Self::ScreenReset => "rebuilt from the log".into(),
            Self::Unanswered => "end of input typed".into(),
            Self::Exit(Exit::Code(code)) => format!("exit {code}").into(),
            Self::Exit(Exit::Signal(signal)) => signal.to_string().into(),
            Self::AtWork(names) | Self::Kept(names) | Self::Leftovers(names) => names.join(" ").into(),
            Self::End { status, .. } => status.as_str().into(),
            Self::Start { .. } | Self::Promoted { kept: false } | Self::Input(_) | Self::Admitted => {
                "".into()
            }
            Self::Released | Self::Timeout | Self::OutputLimit(_) => "".into(),
        }
    }

    /// Returns the byte count, for facts that have one.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Self::Input(bytes) | Self::OutputLimit(bytes) => Some(*bytes),
            Self::InputLost(lost) => Some(lost.bytes),
            _ => None,
        }
    }
}

/// The serialised form of an event in a journal row.
#[derive(Serialize, Deserialize)]
struct EventWords<'a> {
    at: Timestamp,
    actor: Actor,
    what: Cow<'a, str>,
    note: Cow<'a, str>,
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kill_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    survivors: Vec<UnendedProcess>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    listener: Option<Listener>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceiling: Option<CeilingHit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    peak_memory: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lane: Option<LaneWait>,
}

impl<'a> EventWords<'a> {
    fn of(event: &'a TaskEvent) -> Self {
        let TaskEvent { at, actor, fact } = event;
        let mut words = Self {
            at: *at,
            actor: actor.clone(),
            what: fact.word().into(),
            note: fact.note(),
            bytes: fact.bytes(),
            pid: None,
            since: None,
            program: None,
            kill_at: None,
            ran_ms: None,
            error: None,
            survivors: Vec::new(),
            listener: None,
            ceiling: None,
            peak_memory: None,
            lane: None,
        };
        match fact {
            TaskFact::Queued(wait) => words.lane = Some(wait.clone()),
            TaskFact::Listening(listener) => words.listener = Some(listener.clone()),
            TaskFact::Start { pid } => words.pid = *pid,
            TaskFact::Waiting(waiting) => {
                (words.since, words.program) = (Some(waiting.since), waiting.program.clone());
            }
            TaskFact::Stop { kill_at, .. } => words.kill_at = *kill_at,
            TaskFact::Ceiling(hit) => words.ceiling = Some(*hit),
            TaskFact::End { ran_ms, error, survivors, peak_memory, .. } => {
                (words.ran_ms, words.error, words.survivors) = (*ran_ms, error.clone(), survivors.clone());
                words.peak_memory = *peak_memory;
            }
            _ => {}
        }
        words
    }

    /// Parses the fact; `None` if the fact is unknown.
    fn fact(self) -> Option<TaskFact> {
        let Self { at, what, note, bytes, pid, since, program, kill_at, .. } = self;
        let Self { ran_ms, error, survivors, listener, ceiling, peak_memory, lane, .. } = self;
        let text = || note.clone().into_owned();
        let names = || note.split_ascii_whitespace().map(str::to_owned).collect();
        let bytes = bytes.unwrap_or_default();
        Some(match &*what {
            "held" => TaskFact::Held(HoldReason::of(&note)),
            "queued" => TaskFact::Queued(lane?),
            "admitted" => TaskFact::Admitted,
            "approved" => TaskFact::Approved(text()),
            "denied" => TaskFact::Denied(text()),
            "start" => TaskFact::Start { pid },
            "waiting" => {
                let (kind, evidence) = note.split_once(", ")?;
                TaskFact::Waiting(InputWait {
                    kind: kind.parse().ok()?,
                    evidence: evidence.replace(' ', "_").parse().ok()?,
                    since: since.unwrap_or(at),
                    program,
                    question: None,
                })
            }
            "promoted" => TaskFact::Promoted { kept: note == "kept" },
            "outlived" => TaskFact::Outlived(text()),
            "input" => TaskFact::Input(bytes),
            "input_lost" => TaskFact::InputLost(lost_input(bytes, &note)?),
            "unanswered" => TaskFact::Unanswered,
            "listening" => TaskFact::Listening(listener?),
            "closed" => TaskFact::Closed(note.parse().ok()?),
            "refused" => TaskFact::Refused(note.parse().ok()?),
            "lease" => TaskFact::Lease,
            "released" => TaskFact::Released,
            "resize" => {
                let (cols, rows) = note.split_once('x')?;
                TaskFact::Resize(Size::nearest(cols.parse().ok()?, rows.parse().ok()?))
            }
            "stop" => {
                let (word, why) =
                    note.split_once(", ").map_or((&*note, None), |(word, why)| (word, Some(why)));
                let why = why.map(str::to_owned);
                TaskFact::Stop { force: word == "KILL", why, kill_at }
            }
            "signal" => TaskFact::Signal(note.parse().ok()?),
            "timeout" => TaskFact::Timeout,
            "output_limit" => TaskFact::OutputLimit(bytes),
            "ceiling" => TaskFact::Ceiling(ceiling?),
            "screen_reset" => TaskFact::ScreenReset,
            "exit" => TaskFact::Exit(match note.strip_prefix("exit ") {
                Some(code) => Exit::Code(code.parse().ok()?),
                None => Exit::Signal(note.parse().ok()?),
            }),
            "at_work" => TaskFact::AtWork(names()),
            "kept" => TaskFact::Kept(names()),
            "leftovers" => TaskFact::Leftovers(names()),
            "end" => TaskFact::End { status: note.parse().ok()?, ran_ms, error, survivors, peak_memory },
            _ => return None,
        })
    }
}

/// Reads lost input from the note of its event.
fn lost_input(bytes: u64, note: &str) -> Option<LostInput> {
    let (cause, doubt) = note.split_once(", ").unwrap_or((note, ""));
    Some(LostInput { bytes, at_most: doubt == AT_MOST, cause: cause.parse().ok()? })
}

impl Serialize for TaskEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        EventWords::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TaskEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = EventWords::deserialize(deserializer)?;
        let (at, actor) = (words.at, words.actor.clone());
        let said = format!("{} {}", words.what, words.note);
        let fact =
            words.fact().ok_or_else(|| D::Error::custom(format_args!("no event of a task: {said}")))?;
        Ok(Self { at, actor, fact })
    }
}

#[cfg(test)]
mod tests {
    use crate::Signal;
    use crate::task::*;
    use crate::{CeilingKind, InputEvidence, InputLoss, InputNeed, LaneObstacle};

    fn waiting(kind: InputNeed, evidence: InputEvidence) -> InputWait {
        InputWait { kind, evidence, since: Timestamp::UNIX_EPOCH, program: None, question: None }
    }

    #[test]
    fn a_fact_is_read_back_from_its_words() {
        let facts = [
            TaskFact::Held(HoldReason::Rule("git push".into())),
            TaskFact::Held(HoldReason::Paused),
            TaskFact::Queued(LaneWait {
                lane: "build".into(),
                running: 2,
                slots: 2,
                by: LaneObstacle::Elsewhere,
            }),
            TaskFact::Admitted,
            TaskFact::Approved(String::new()),
            TaskFact::Denied("not now, later".into()),
            TaskFact::Start { pid: Some(7) },
            TaskFact::Waiting(waiting(InputNeed::Secret, InputEvidence::EchoOff)),
            TaskFact::Waiting(InputWait {
                program: Some("sudo".into()),
                ..waiting(InputNeed::Secret, InputEvidence::EchoOff)
            }),
            TaskFact::Unanswered,
            TaskFact::Promoted { kept: true },
            TaskFact::Promoted { kept: false },
            TaskFact::Outlived("a person holds it".into()),
            TaskFact::Input(7),
            TaskFact::InputLost(LostInput { bytes: 7, at_most: true, cause: InputLoss::ThrownAway }),
            TaskFact::InputLost(LostInput { bytes: 7, at_most: false, cause: InputLoss::NeverRead }),
            TaskFact::Listening(Listener {
                at: "[::1]:5173".parse().expect("an address"),
                url: Some("http://[::1]:5173".into()),
                after_ms: 1_200,
            }),
            TaskFact::Closed("unix:/run/a b".parse().expect("an address")),
            TaskFact::Refused(RejectionReason::HeldByOperator),
            TaskFact::Lease,
            TaskFact::Released,
            TaskFact::Resize(Size::nearest(120, 40)),
            TaskFact::Stop { force: false, why: None, kill_at: Some(Timestamp::MAX) },
            TaskFact::Stop { force: true, why: Some("it received SIGTERM, and more".into()), kill_at: None },
            TaskFact::Signal(StopSignal::Usr1),
            TaskFact::Timeout,
            TaskFact::OutputLimit(1 << 20),
            TaskFact::Ceiling(CeilingHit {
                kind: CeilingKind::MemoryLimit,
                limit: Some(1 << 20),
                soft: true,
                peak: Some(2 << 20),
            }),
            TaskFact::ScreenReset,
            TaskFact::Exit(Exit::Code(-3)),
            TaskFact::Exit(Exit::Signal(Signal::KILL)),
            TaskFact::AtWork(vec!["sort".into()]),
            TaskFact::Kept(vec!["node".into()]),
            TaskFact::Leftovers(vec!["sleep".into(), "node".into()]),
            TaskFact::End {
                status: TaskStatus::Interrupted,
                ran_ms: Some(9),
                error: Some(("kind".into(), "a message".into())),
                survivors: vec!["init".into()],
                peak_memory: Some(7),
            },
        ];
        for fact in facts {
            let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: Actor::Operator, fact };
            let text = serde_json::to_string(&event).expect("written");
            assert_eq!(serde_json::from_str::<TaskEvent>(&text).expect("read"), event, "{text}");
        }
    }

    #[test]
    fn a_row_has_the_words_it_always_had() {
        let start = r#"{"at":"1970-01-01T00:00:00Z","actor":"system","what":"waiting","note":"line, tty read","bytes":null"#;
        let fact = TaskFact::Waiting(waiting(InputNeed::Line, InputEvidence::TtyRead));
        let event = TaskEvent { at: Timestamp::UNIX_EPOCH, actor: Actor::System, fact };
        let text = format!(r#"{start},"since":"1970-01-01T00:00:00Z"}}"#);
        assert_eq!(serde_json::to_string(&event).expect("written"), text);
        // In the format from before `since` was added.
        assert_eq!(serde_json::from_str::<TaskEvent>(&format!("{start}}}")).expect("read"), event);
    }
}
