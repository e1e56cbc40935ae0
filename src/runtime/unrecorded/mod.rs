//! Commands from agents' own shells that ran outside the record because no runtime was available. Each leaves a mark
//! in a file of its workspace. The next runtime to be reached records the marks and tells the person once a console
//! is open. Anyone who can write that file can write anything into it, so what is read is cut to size before it is
//! kept. Pure except for [`mod@file`].

mod file;

use super::notice_fact::short;
use crate::model::{UnrecordedCommand, UnrecordedRow};

pub use file::{leave_mark, untold};

pub(super) use file::{TakenMarks, tell};

/// The number of commands kept with a description; others are only counted.
const DESCRIBED: usize = 200;
/// How many commands a notice names, and the length limit of each, in characters.
const NAMED: usize = 3;
const NAME_CHARS: usize = 60;
/// Length limit of an agent's name in a notice, in characters.
const AGENT_CHARS: usize = 20;

/// UnrecordedCommands that were read, in the order they were left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UnrecordedCommands {
    marks: Vec<UnrecordedCommand>,
    /// Number of commands of which nothing else is known.
    more: u64,
}

impl UnrecordedCommands {
    /// Parses the lines of a file: each line counts as at least one command, whatever it contains.
    fn parse(bytes: &[u8]) -> Self {
        let mut marks = Self::default();
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
        for line in lines.filter(|_| !bytes.is_empty()) {
            marks.add(serde_json::from_slice(line).unwrap_or(UnrecordedRow::More { more: 1 }));
        }
        marks
    }

    /// Tells whether the contents of a file are marks: any of its lines is one, or none says anything.
    fn is_ours(bytes: &[u8]) -> bool {
        let mut said =
            bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
        said.peek().is_none() || said.any(|line| serde_json::from_slice::<UnrecordedRow>(line).is_ok())
    }

    /// Returns lines that parse as these marks.
    fn lines(&self) -> serde_json::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for row in self.rows() {
            serde_json::to_writer(&mut lines, &row)?;
            lines.push(b'\n');
        }
        Ok(lines)
    }

    /// Adds the contents of a row or a line.
    pub(super) fn add(&mut self, outside: UnrecordedRow) {
        match outside {
            UnrecordedRow::Command(mark) if self.marks.len() < DESCRIBED => {
                self.marks.push(mark.mask_and_cut())
            }
            UnrecordedRow::Command(_) => self.more = self.more.saturating_add(1),
            UnrecordedRow::More { more } => self.more = self.more.saturating_add(more),
        }
    }

    /// Returns the rows for these marks.
    pub(super) fn rows(&self) -> impl Iterator<Item = UnrecordedRow> {
        let more = (self.more > 0).then_some(UnrecordedRow::More { more: self.more });
        self.marks.iter().cloned().map(UnrecordedRow::Command).chain(more)
    }

    /// Returns the number of commands.
    pub(super) fn count(&self) -> u64 {
        self.more.saturating_add(self.marks.len() as u64)
    }

    /// Returns the notice for the person; `None` if there are no marks.
    pub(super) fn notice(&self) -> Option<String> {
        let commands = match self.count() {
            0 => return None,
            1 => "1 command".to_owned(),
            many => format!("{many} commands"),
        };
        let mut agents: Vec<String> = Vec::new();
        for agent in self.marks.iter().filter_map(|mark| mark.agent.as_deref()) {
            let agent = short(agent, AGENT_CHARS);
            if agents.len() < NAMED && !agent.is_empty() && !agents.contains(&agent) {
                agents.push(agent);
            }
        }
        let of = if agents.is_empty() { String::new() } else { format!(" of {}", agents.join(", ")) };
        let names = self.marks.iter().take(NAMED).map(|mark| format!("`{}`", short(&mark.cmd, NAME_CHARS)));
        let mut named: Vec<String> = names.collect();
        let rest = self.count() - named.len() as u64;
        if rest > 0 && !named.is_empty() {
            named.push(format!("{rest} more"));
        }
        let named = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        let callers = self.marks.iter().filter_map(|mark| mark.caller.as_deref());
        let mut callers: Vec<String> = callers.map(|caller| short(caller, AGENT_CHARS)).collect();
        let is_all = callers.len() as u64 == self.count();
        callers.sort();
        callers.dedup();
        callers.truncate(NAMED);
        let unrouted = format!("not routed: started by {}", callers.join(", "));
        let why = match (callers.is_empty(), is_all) {
            (true, _) => "because no runtime was available".to_owned(),
            (false, true) => unrouted,
            (false, false) => format!("because no runtime was available, or {unrouted}"),
        };
        Some(format!("{commands}{of} ran outside the record, {why}{named}"))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::model::unrecorded::{CMD_CHARS, TEXT_CHARS};

    pub(super) fn mark(agent: &str, cmd: &str) -> UnrecordedCommand {
        UnrecordedCommand {
            at: Timestamp::UNIX_EPOCH,
            agent: Some(agent.to_owned()),
            session: None,
            workdir: "/w".into(),
            cmd: cmd.to_owned(),
            why: "no runtime".into(),
            caller: None,
        }
    }

    fn file(marks: &[UnrecordedCommand]) -> Vec<u8> {
        let lines = marks.iter().map(|mark| serde_json::to_string(mark).expect("JSON") + "\n");
        lines.collect::<String>().into_bytes()
    }

    #[test]
    fn a_notice_of_unrecorded_commands_names_the_first_and_counts_the_others() {
        let notice = |marks: &[UnrecordedCommand]| UnrecordedCommands::parse(&file(marks)).notice();
        assert_eq!(notice(&[]), None);
        let (one, two) = (mark("claude", "npm test"), mark("gemini", "make\nmake install"));
        let because = "ran outside the record, because no runtime was available";
        assert_eq!(
            notice(std::slice::from_ref(&one)),
            Some(format!("1 command of claude {because}: `npm test`"))
        );
        let many = [one.clone(), two, one.clone(), one.clone(), UnrecordedCommand { agent: None, ..one }];
        assert_eq!(
            notice(&many),
            Some(format!(
                "5 commands of claude, gemini {because}: `npm test`, `make make install`, `npm test`, 2 more"
            ))
        );
        let unrouted = UnrecordedCommand { caller: Some("node".into()), ..mark("pi", "ls") };
        assert_eq!(
            notice(std::slice::from_ref(&unrouted)).as_deref(),
            Some("1 command of pi ran outside the record, not routed: started by node: `ls`")
        );
        assert!(
            notice(&[unrouted, mark("pi", "pwd")])
                .is_some_and(|told| told.contains("available, or not routed"))
        );
        assert_eq!(UnrecordedCommands::parse(b"\n\n").notice(), Some(format!("2 commands {because}")));
    }

    #[test]
    fn a_line_that_says_nothing_is_a_command_all_the_same() {
        let mut lines = file(&[mark("claude", "ls")]);
        lines.extend(b"\n{\"at\":3}\n\xff\xfe\n{\"at\":\"2026-01-01T00:00:00Z\",\"cm");
        let marks = UnrecordedCommands::parse(&lines);
        assert_eq!((marks.count(), marks.marks.len()), (5, 1));
        assert_eq!(UnrecordedCommands::parse(&marks.lines().expect("JSON")), marks);
        let many = UnrecordedCommands::parse(&file(&vec![mark("claude", "ls"); DESCRIBED + 3]));
        assert_eq!((many.marks.len(), many.more), (DESCRIBED, 3));
    }

    #[test]
    fn the_mark_of_an_unrecorded_command_is_cut_and_masked() {
        let long =
            mark("claude", &format!("API_TOKEN=hunter2-door run {}", "é".repeat(20_000))).mask_and_cut();
        assert_eq!(long.cmd.chars().count(), CMD_CHARS);
        assert!(long.cmd.starts_with("API_TOKEN=[masked] run "), "{}", long.cmd);
        // A mark written by another program is cut and masked in the same way when it is read.
        let written =
            UnrecordedCommand { why: "x".repeat(5_000), ..mark("a", "export API_TOKEN=hunter2-door") };
        let read = UnrecordedCommands::parse(&file(&[written]));
        assert_eq!(read.marks[0].cmd, "export API_TOKEN=[masked]");
        assert_eq!(read.marks[0].why.len(), TEXT_CHARS);
    }

    proptest! {
        #[test]
        fn a_notice_is_one_short_line_whatever_the_file_says(
            marks in prop::collection::vec((".{0,80}", "(?s).{0,200}"), 0..8),
            noise in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let marks: Vec<UnrecordedCommand> = marks.iter().map(|(agent, cmd)| mark(agent, cmd)).collect();
            let notice = UnrecordedCommands::parse(&[file(&marks), noise].concat()).notice().unwrap_or_default();
            prop_assert!(crate::envelope::SafeText::is_line(&notice), "{notice:?}");
            prop_assert!(notice.chars().count() < 2_000, "{}", notice.chars().count());
        }
    }
}
