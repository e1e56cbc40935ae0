//! `sed`: whether its script writes or runs something, and which files it replaces.

use crate::command_end::{CommandEnd, Outcome};
use crate::commands::loss::{Loss, LossVerb};
use crate::commands::options::SortedArguments;
use crate::fields::{Argument, shown_words};
use crate::interpreter::Interpreter;
use crate::look::FileKind;
use crate::names::path_of;

impl Interpreter<'_> {
    pub(crate) fn sed(&mut self, arguments: &[Argument]) -> CommandEnd {
        let in_place = |argument: &Argument| {
            let text = argument.known_text().unwrap_or_default();
            let is_short = text.starts_with('-') && !text.starts_with("--") && text.contains('i');
            (is_short && !text.starts_with("-e")) || text.starts_with("--in-place")
        };
        let flag = arguments.iter().find(|argument| in_place(argument)).and_then(Argument::known_text);
        let given: Vec<Argument> = arguments.iter().filter(|argument| !in_place(argument)).cloned().collect();
        let sorted = SortedArguments::of(&given, "efl", &["expression", "file", "line-length"]);
        let scripts = sorted.values(&["e", "expression"]);
        let has_script = !scripts.is_empty();
        let script: Option<Vec<&str>> = match (has_script, sorted.operands.first()) {
            (false, Some(operand)) => operand.known_text().map(|text| vec![text]),
            _ => scripts.into_iter().collect(),
        };
        let is_plain = script.as_deref().is_some_and(|parts| is_plain(&parts.join("\n")));
        if sorted.has(&["f", "file"]) || !is_plain {
            self.not_known(format!("what sed {} writes or runs", shown_words(arguments)));
        }
        let Some(flag) = flag else { return CommandEnd { outcome: Outcome::Likely, output: None } };
        let suffix = match flag.strip_prefix("--in-place") {
            Some(rest) => rest.trim_start_matches('='),
            None => flag.split_once('i').map_or("", |(_, rest)| rest),
        };
        let files = sorted.operands.get(usize::from(!has_script)..).unwrap_or_default().to_vec();
        if suffix.is_empty() {
            // Whether the script changes anything is not computed.
            return self.write_operands("sed -i", &files, false, true);
        }
        for file in files {
            self.back_up(file, suffix);
        }
        CommandEnd { outcome: Outcome::Unknown, output: None }
    }

    /// Goes through putting the old file beside the new one.
    fn back_up(&mut self, file: &Argument, suffix: &str) {
        let path =
            file.known_text().and_then(|text| self.full(text)).filter(|_| !suffix.contains(['*', '/']));
        let Some(path) = path else {
            return self.not_known(format!("under which name sed keeps {}", file.display_text()));
        };
        let Some(old) = self.files.find(&path, true).filter(|old| old.stat.kind == FileKind::File) else {
            return;
        };
        let name = format!("{}{suffix}", crate::names::text_of(old.path.file_name().unwrap_or_default()));
        let kept = old.path.with_file_name(path_of(&name));
        if let Some(replaced) = self.files.at(&kept) {
            let mut loss = Loss::new(LossVerb::Overwrites, true);
            self.lose(&mut loss, &replaced);
            self.report(loss);
        }
        self.files.rename(&old, &kept, true);
    }
}

/// Tells whether a script only edits what passes through: it has no command that writes a file or runs something.
fn is_plain(script: &str) -> bool {
    let mut rest = script.trim_start_matches("#n\n");
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        let Some(after) = address(rest) else { return false };
        let mut chars = after.trim_start_matches([' ', '!']).chars();
        let Some(command) = chars.next() else { return true };
        let after = chars.as_str();
        let line_end = |text: &str| text.find('\n').map_or(text.len(), |at| at + 1);
        rest = match command {
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | '{' | '}' => after,
            'l' | 'q' | 'Q' => after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '),
            ':' | 'b' | 't' | 'T' => &after[after.find([';', '\n', '}']).unwrap_or(after.len())..],
            '#' => &after[line_end(after)..],
            's' | 'y' => {
                let Some(flags) = part(after, 0).and_then(|mark| part(after, mark)) else { return false };
                let flags = after[flags..].trim_start_matches(['g', 'p', 'i', 'I', 'm', 'M']);
                let flags = flags
                    .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'));
                if !flags.is_empty() && !flags.starts_with([' ', ';', '\n', '}', '#']) {
                    return false;
                }
                flags
            }
            // Text up to the end of its line, which may go on.
            'a' | 'i' | 'c' if !after.contains("\\\n") => &after[line_end(after)..],
            'r' | 'R' => &after[line_end(after)..],
            _ => return false,
        };
    }
}

/// Returns where the part of `s/…/…/` behind a delimiter ends: after `from`, or the first one if that is 0.
fn part(text: &str, from: usize) -> Option<usize> {
    let mark = text.chars().next().filter(|c| !matches!(c, '\\' | '\n'))?;
    let start = if from == 0 { mark.len_utf8() } else { from };
    let mut is_escaped = false;
    let end = text[start..].find(|c| {
        let ends = c == mark && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    Some(start + end + mark.len_utf8())
}

/// Returns what follows the addresses of a command; `None` if they cannot be read.
fn address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = match rest.chars().next() {
            Some('/') => &rest[part(rest, 0)?..],
            Some('\\') => &rest[1 + part(&rest[1..], 0)?..],
            Some('0'..='9' | '$' | ',' | '+' | '~') => &rest[1..],
            Some('I' | 'M') if rest.len() < text.len() => &rest[1..],
            _ => return Some(rest),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_writes_or_runs_is_not_plain() {
        for script in [
            "s/^/> /",
            "s,a\\,b,w,g",
            "1,3p;$d",
            "/w/d",
            "\\,e,I!p",
            "y/abc/wex/",
            "{p;p}",
            "s/a/b/2g; s/c/d/",
            "a w\np",
            "/x/,/y/{s/w/e/;b end};:end",
            "",
            "# w\np",
            "2q",
        ] {
            assert!(is_plain(script), "{script}");
        }
        for script in [
            "w f",
            "1w f",
            "s/a/b/w f",
            "s/a/b/e",
            "s/a/b/gew f",
            "e",
            "1e rm f",
            "W f",
            "p;w f",
            "/a/ w f",
            "s/a/b",
            "!w f",
            "a x\\\nw f",
            "{w f",
            "s/a/b/ w f",
            "v;e",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
