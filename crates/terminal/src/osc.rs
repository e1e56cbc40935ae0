//! Operating system commands (OSC): the title, directory and shell marks that a program sets. They are kept to be shown
//! and never passed on to another terminal.
//!
//! To support another OSC: add it to [`Properties::osc`]; one that asks for a reply is in `replies`.

use pilothouse_envelope::is_hidden;

/// Maximum number of characters kept of a title or directory.
const MAX_CHARS: usize = 256;

/// The terminal properties set by a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties {
    /// The title (OSC 0 and 2), without hidden characters.
    pub title: Option<String>,
    /// The directory of its shell, as a URL or a path (OSC 7, OSC 9;9), without hidden characters.
    pub directory: Option<String>,
    /// The last mark of its shell (OSC 133).
    pub prompt: Option<PromptMark>,
}

/// A mark a shell sets around its prompt and its commands (OSC 133).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptMark {
    /// A prompt begins.
    Prompt,
    /// The command line begins.
    Command,
    /// Output of the command begins.
    Output,
    /// The command ended, with this exit status if known.
    Done(Option<i32>),
}

impl Properties {
    /// Applies an operating system command.
    pub(super) fn osc(&mut self, content: &[u8]) {
        let text = String::from_utf8_lossy(content);
        let (code, value) = text.split_once(';').unwrap_or((&text, ""));
        match code {
            "0" | "2" => self.title = visible_text(value),
            "7" => self.directory = visible_text(value),
            "9" => {
                if let Some(path) = value.strip_prefix("9;") {
                    self.directory = visible_text(path);
                }
            }
            "133" => self.prompt = prompt_mark(value).or(self.prompt),
            _ => {}
        }
    }
}

fn visible_text(value: &str) -> Option<String> {
    let text: String = value.chars().filter(|c| !is_hidden(*c)).take(MAX_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

fn prompt_mark(value: &str) -> Option<PromptMark> {
    let mut parts = value.split(';');
    Some(match parts.next()? {
        "A" => PromptMark::Prompt,
        "B" => PromptMark::Command,
        "C" => PromptMark::Output,
        "D" => PromptMark::Done(parts.next().and_then(|status| status.parse().ok())),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_kept_without_hidden_characters() {
        let mut facts = Properties::default();
        facts.osc(b"0;a\x1b\xe2\x80\xaeb");
        facts.osc(b"7;file://host/tmp");
        facts.osc(b"133;D;3");
        facts.osc(b"133;nonsense");
        facts.osc(b"52;c;aGk=");
        assert_eq!(facts.title.as_deref(), Some("ab"));
        assert_eq!(facts.directory.as_deref(), Some("file://host/tmp"));
        assert_eq!(facts.prompt, Some(PromptMark::Done(Some(3))));
        facts.osc(b"2;");
        assert_eq!(facts.title, None);
    }
}
