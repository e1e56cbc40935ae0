//! Processes that could not be ended: what is known about each, and the one phrase that says it everywhere.
//!
//! A process of another user refuses every signal (`EPERM`), which is known at once. Any other process that survives
//! SIGKILL is stuck in the kernel.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use pilothouse_envelope::one_line;

/// The maximum length of the name of a process or a user, in characters.
pub const NAME_CHARS: usize = 32;
/// The maximum number of names listed for each owner.
const MOST_NAMES: usize = 10;

/// A process that was to be ended and is still alive. Older recordings hold only its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RecordedProcess")]
pub struct UnendedProcess {
    /// Its name, as it says itself.
    pub name: String,
    /// Its process id, for the operator only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// When it started, in clock ticks since boot; 0 if that cannot be seen.
    pub start: u64,
    /// The user it belongs to, if that is why it could not be ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RecordedProcess {
    Name(String),
    Whole { name: String, pid: Option<i32>, start: u64, owner: Option<String> },
}

impl From<RecordedProcess> for UnendedProcess {
    fn from(recorded: RecordedProcess) -> Self {
        match recorded {
            RecordedProcess::Name(name) => Self { name, ..Self::default() },
            RecordedProcess::Whole { name, pid, start, owner } => Self { name, pid, start, owner },
        }
    }
}

impl From<&str> for UnendedProcess {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Processes of one owner that could not be ended: names and a count, never process ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnendedProcesses {
    /// Number of processes.
    pub count: usize,
    /// Unique process names.
    pub names: Vec<String>,
    /// The user that owns them, if ownership is the reason; null if they survived a kill.
    pub owner: Option<String>,
}

impl UnendedProcesses {
    /// Returns the processes of each owner.
    pub fn of(processes: &[UnendedProcess]) -> Vec<Self> {
        let owners: BTreeSet<Option<&String>> =
            processes.iter().map(|process| process.owner.as_ref()).rev().collect();
        let by = |owner: Option<&String>| {
            let own: Vec<_> = processes.iter().filter(|process| process.owner.as_ref() == owner).collect();
            let names: BTreeSet<String> =
                own.iter().map(|process| one_line(&process.name, NAME_CHARS)).collect();
            Self {
                count: own.len(),
                names: names.into_iter().take(MOST_NAMES).collect(),
                owner: owner.map(|owner| one_line(owner, NAME_CHARS)),
            }
        };
        owners.into_iter().rev().map(by).collect()
    }

    /// Returns the names of those processes that have ended, of all that were to be ended.
    pub fn without(names: &[String], unended: &[UnendedProcess]) -> Vec<String> {
        let mut ended = names.to_vec();
        for process in unended {
            // One that executes another program has another name by now.
            let same = ended.iter().position(|name| one_line(name, NAME_CHARS) == process.name);
            if let Some(at) = same.or(ended.len().checked_sub(1)) {
                ended.remove(at);
            }
        }
        ended
    }

    /// Returns the phrase about processes that could not be ended; `None` without any.
    pub fn phrase(all: &[Self]) -> Option<String> {
        let phrases: Vec<String> = all.iter().map(ToString::to_string).collect();
        (!phrases.is_empty()).then(|| phrases.join("; "))
    }

    /// Like [`Self::phrase`] for the operator, who also sees their ids and the command that would end them.
    pub fn phrase_for_operator(processes: &[UnendedProcess]) -> Option<String> {
        let phrase = Self::phrase(&Self::of(processes))?;
        let ids = |is_owned: bool| -> Vec<String> {
            let those = processes.iter().filter(|process| process.owner.is_some() == is_owned);
            those.filter_map(|process| Some(process.pid?.to_string())).collect()
        };
        let (owned, stuck) = (ids(true).join(" "), ids(false).join(", "));
        let command = (!owned.is_empty()).then(|| format!("sudo kill -KILL {owned}"));
        let stuck = (!stuck.is_empty()).then(|| format!("stuck in the kernel: {stuck}"));
        let more: Vec<String> = command.into_iter().chain(stuck).collect();
        Some(if more.is_empty() { phrase } else { format!("{phrase} ({})", more.join("; ")) })
    }
}

/// Says it in one phrase: `1 process could not be ended: sleep, which belongs to root`.
impl fmt::Display for UnendedProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, names, owner } = self;
        let (noun, verb) = if *count == 1 { ("process", "belongs") } else { ("processes", "belong") };
        let names = names.join(", ");
        match owner {
            Some(owner) => {
                write!(f, "{count} {noun} could not be ended: {names}, which {verb} to {owner}")
            }
            None => write!(f, "{count} {noun} did not end: {names}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(name: &str, pid: i32, owner: Option<&str>) -> UnendedProcess {
        UnendedProcess { name: name.into(), pid: Some(pid), start: 7, owner: owner.map(str::to_owned) }
    }

    #[test]
    fn f63_the_phrase_tells_count_names_and_owner_and_only_the_operator_is_told_ids() {
        let root = Some("root");
        let cases = [
            (
                vec![process("sleep", 4711, root)],
                "1 process could not be ended: sleep, which belongs to root",
                " (sudo kill -KILL 4711)",
            ),
            (
                vec![process("b", 12, root), process("a", 11, root), process("a", 13, root)],
                "3 processes could not be ended: a, b, which belong to root",
                " (sudo kill -KILL 12 11 13)",
            ),
            (vec![process("cp", 9, None)], "1 process did not end: cp", " (stuck in the kernel: 9)"),
            (
                vec![process("cp", 9, None), process("sleep", 8, root)],
                "1 process could not be ended: sleep, which belongs to root; 1 process did not end: cp",
                " (sudo kill -KILL 8; stuck in the kernel: 9)",
            ),
            (vec![UnendedProcess::from("init")], "1 process did not end: init", ""),
        ];
        for (processes, phrase, more) in cases {
            let all = UnendedProcesses::of(&processes);
            assert_eq!(UnendedProcesses::phrase(&all).as_deref(), Some(phrase));
            let for_operator = UnendedProcesses::phrase_for_operator(&processes);
            assert_eq!(for_operator.as_deref(), Some(&*format!("{phrase}{more}")));
        }
        assert_eq!((UnendedProcesses::phrase(&[]), UnendedProcesses::phrase_for_operator(&[])), (None, None));
    }

    #[test]
    fn f63_processes_that_could_not_be_ended_are_not_counted_as_ended() {
        let names = ["sleep", "sh", "sleep"].map(str::to_owned);
        let others = |unended: &[&str]| {
            let unended: Vec<_> = unended.iter().map(|name| process(name, 1, Some("root"))).collect();
            UnendedProcesses::without(&names, &unended)
        };
        assert_eq!(others(&[]), names);
        assert_eq!(others(&["sleep"]), ["sh", "sleep"]);
        assert_eq!(others(&["sleep", "sleep"]), ["sh"]);
        assert_eq!(others(&["another name"]), ["sleep", "sh"], "there are only two others");
        assert_eq!(others(&["sleep", "sh", "sleep", "and one more"]), Vec::<String>::new());
    }

    #[test]
    fn f63_the_phrase_strips_control_characters_from_names_and_stays_short() {
        let hostile = process("a\n\u{1b}[2Jb\tc", 1, Some("r\noot"));
        assert_eq!(
            UnendedProcesses::phrase(&UnendedProcesses::of(&[hostile])).as_deref(),
            Some("1 process could not be ended: a [2Jb c, which belongs to r oot")
        );
        let many: Vec<_> = (0..200).map(|at| process(&format!("{}{at}", "x".repeat(99)), at, None)).collect();
        let phrase = UnendedProcesses::phrase(&UnendedProcesses::of(&many)).expect("a phrase");
        assert!(phrase.starts_with("200 processes") && phrase.chars().count() < 400, "{phrase}");
    }

    #[test]
    fn a_process_reads_back_and_one_of_an_older_recording_is_its_name() {
        for process in [process("sleep", 8, Some("root")), process("cp", 9, None), "init".into()] {
            let text = serde_json::to_string(&process).expect("written");
            assert_eq!(serde_json::from_str::<UnendedProcess>(&text).expect("read"), process, "{text}");
        }
        assert_eq!(serde_json::from_str::<UnendedProcess>(r#""init""#).expect("read"), "init".into());
    }
}
