//! The file of a binding (`bindings/NAME.md`): readable for a person, and parsed back exactly by the engine. Pure.

use std::fmt::Write as _;

use super::command_result::CommandResult;
use crate::prose::engine::value::Value;

/// How the command that created a value ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandEnd {
    /// Its text; empty if it is not known.
    pub command: String,
    pub exit_code: Option<i32>,
    /// Its standard error.
    pub stderr: String,
    /// Whether it timed out.
    pub timed_out: bool,
    /// Whether its standard output was truncated.
    pub stdout_truncated: bool,
    /// Whether its standard error was truncated.
    pub stderr_truncated: bool,
}

impl CommandEnd {
    /// Returns how a command with this text ended.
    pub fn of(command: &str, ran: &CommandResult) -> Self {
        Self {
            command: command.to_owned(),
            exit_code: Some(ran.exit_code),
            stderr: ran.stderr.clone(),
            timed_out: ran.timed_out,
            stdout_truncated: ran.stdout_truncated,
            stderr_truncated: ran.stderr_truncated,
        }
    }
}

/// The contents of a binding file.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingFile {
    pub name: String,
    /// `input`, `let`, `const` or `output`.
    pub kind: String,
    /// The call of a block that it belongs to.
    pub execution_id: Option<u32>,
    /// The text of the program that created it.
    pub source: String,
    /// How the command that created it ended, if known.
    pub made: Option<CommandEnd>,
    pub value: Value,
}

impl BindingFile {
    /// Formats the file.
    pub fn render(&self) -> String {
        let Self { name, kind, execution_id, source, made, value } = self;
        let mut text = format!("# {name}\n\nkind: {kind}\n");
        if let Some(id) = execution_id {
            let _ = writeln!(text, "execution_id: {id}");
        }
        if matches!(value, Value::List(_) | Value::Record(_)) {
            text.push_str("value: json\n");
        }
        let _ = write!(text, "\nsource:\n{}\n", add_fence(source, "prose"));
        if let Some(made) = made {
            text.push('\n');
            text.push_str(&render_made(made));
        }
        text.push_str("\n---\n\n");
        text.push_str(&value.body());
        text
    }

    /// Parses a file; `None` if it is not a binding file.
    pub fn parse(text: &str) -> Option<Self> {
        let mut header = BindingHeader::default();
        let mut rest = text;
        loop {
            let (line, after) = rest.split_once('\n')?;
            rest = after;
            if line == "---" {
                break;
            }
            rest = header.line(line, rest)?;
        }
        // A blank line precedes the value.
        let body = rest.strip_prefix('\n').unwrap_or(rest);
        let value = match header.is_json {
            true => serde_json::from_str(body).ok()?,
            false => Value::text(body),
        };
        Some(Self {
            name: header.name?,
            kind: header.kind?,
            execution_id: header.execution_id,
            source: header.source,
            made: header.made,
            value,
        })
    }
}

fn render_made(made: &CommandEnd) -> String {
    let mut text = String::new();
    if let Some(code) = made.exit_code {
        let _ = writeln!(text, "exit_code: {code}");
    }
    let _ = match plain_line(&made.stderr) {
        Some("") => writeln!(text, "stderr: (empty)"),
        Some(line) => writeln!(text, "stderr: {line}"),
        None => writeln!(text, "stderr:\n{}", add_fence(&made.stderr, "")),
    };
    let flags = [
        ("timed_out", made.timed_out),
        ("stdout_truncated", made.stdout_truncated),
        ("stderr_truncated", made.stderr_truncated),
    ];
    for (name, _) in flags.iter().filter(|(_, is_set)| *is_set) {
        let _ = writeln!(text, "{name}: true");
    }
    text
}

/// Returns the text if it fits on a line of the header: one line, no control characters, unambiguous.
fn plain_line(text: &str) -> Option<&str> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let is_plain = !line.contains(char::is_control) && line.trim() == line && line != "(empty)";
    // A text without a trailing line feed would gain one.
    (is_plain && (text.is_empty() || text.ends_with('\n') && !line.is_empty())).then_some(line)
}

/// Encloses a text in fences longer than any run of backticks in it.
fn add_fence(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let feed = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{feed}{fence}")
}

#[derive(Default)]
struct BindingHeader {
    name: Option<String>,
    kind: Option<String>,
    execution_id: Option<u32>,
    source: String,
    made: Option<CommandEnd>,
    is_json: bool,
}

impl BindingHeader {
    /// Parses a line and what belongs to it in `rest`; returns what is left.
    fn line<'a>(&mut self, line: &str, rest: &'a str) -> Option<&'a str> {
        if let Some(name) = line.strip_prefix("# ") {
            self.name.get_or_insert_with(|| name.to_owned());
            return Some(rest);
        }
        let Some((key, value)) = line.split_once(':') else { return Some(rest) };
        let value = value.trim();
        match (key, value) {
            ("kind", kind) => self.kind = Some(kind.to_owned()),
            ("execution_id", id) => self.execution_id = id.parse().ok(),
            ("value", "json") => self.is_json = true,
            ("source", "") => {
                let (source, rest) = read_fence(rest)?;
                self.source = source.strip_suffix('\n').unwrap_or(source).to_owned();
                return Some(rest);
            }
            ("exit_code", code) => self.command_end().exit_code = code.parse().ok(),
            ("stderr", "(empty)") => self.command_end().stderr = String::new(),
            ("stderr", "") => {
                let (stderr, rest) = read_fence(rest)?;
                self.command_end().stderr = stderr.to_owned();
                return Some(rest);
            }
            ("stderr", line) => self.command_end().stderr = format!("{line}\n"),
            ("timed_out", "true") => self.command_end().timed_out = true,
            ("stdout_truncated", "true") => self.command_end().stdout_truncated = true,
            ("stderr_truncated", "true") => self.command_end().stderr_truncated = true,
            _ => {}
        }
        Some(rest)
    }

    fn command_end(&mut self) -> &mut CommandEnd {
        self.made.get_or_insert_default()
    }
}

/// Parses the fenced text at the beginning of `text`; returns its contents and what follows.
fn read_fence(text: &str) -> Option<(&str, &str)> {
    let (opening, _) = text.split_once('\n')?;
    let fence = &opening[..opening.find(|c| c != '`').unwrap_or(opening.len())];
    let body = text.get(opening.len() + 1..)?;
    let closing = format!("{fence}\n");
    let end = if body.starts_with(&closing) { 0 } else { body.find(&format!("\n{closing}"))? + 1 };
    Some((body.get(..end)?, body.get(end + closing.len()..)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(value: &str, stderr: &str) -> BindingFile {
        BindingFile {
            name: "r".into(),
            kind: "let".into(),
            execution_id: None,
            source: "let r = exec \"x\"\n  on-fail: \"continue\"".into(),
            made: Some(CommandEnd { exit_code: Some(3), stderr: stderr.into(), ..CommandEnd::default() }),
            value: Value::text(value),
        }
    }

    #[test]
    fn the_file_of_a_binding_has_the_form_that_the_language_defines() {
        // docs/prose-rules.md#rule-23.
        assert_eq!(
            file("o\n", "e\n").render(),
            "# r\n\nkind: let\n\nsource:\n```prose\nlet r = exec \"x\"\n  on-fail: \"continue\"\n```\n\n\
             exit_code: 3\nstderr: e\n\n---\n\no\n"
        );
        assert!(file("", "").render().contains("\nstderr: (empty)\n"));
        assert!(file("", "a\n```\n").render().contains("stderr:\n````\na\n```\n````\n"));
        let plain = BindingFile { made: None, execution_id: Some(4), ..file("v", "") };
        assert!(!plain.render().contains("stderr"));
        assert!(plain.render().contains("kind: let\nexecution_id: 4\n"));
    }

    proptest! {
        /// Whatever a value and a command's errors are: they are read back as they were.
        #[test]
        fn a_file_is_read_back_exactly(
            value in "[a-z`#:\\-\n ---]{0,40}", stderr in "([a-z`(): \t]{0,9}\n){0,4}",
            source in "[a-z`{} =\"-]{1,20}(\n[a-z`-]{1,9}){0,2}", id in prop::option::of(1..9_u32),
        ) {
            let before = BindingFile { source, execution_id: id, ..file(&value, &stderr) };
            let text = before.render();
            prop_assert_eq!(BindingFile::parse(&text).expect("a binding"), before, "{}", text);
        }

        #[test]
        fn parsing_any_text_as_a_binding_never_panics(text in "(# |kind:|source:|\n|```|---|[a-z]|é){0,30}") {
            let _ = BindingFile::parse(&text);
        }
    }

    #[test]
    fn a_list_in_a_binding_reads_back_as_a_list() {
        let list = Value::list(vec![Value::text("a"), Value::list(vec![])]);
        let before = BindingFile { value: list, ..file("", "") };
        assert_eq!(BindingFile::parse(&before.render()).expect("a binding"), before);
    }
}
