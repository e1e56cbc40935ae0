//! The dialogue a command has on a terminal beside its streams, drawn between the rows of its output, with a
//! mark at the beginning of each row.

use std::borrow::Cow;

/// The coloured mark at the beginning of such a row.
const MARKED: &str = "\x1b[0;35m»\x1b[0m ";
/// The same as text.
const MARK: &str = "» ";

/// The progress of a command's output and dialogue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dialogue {
    /// Whether the last bytes were part of the dialogue.
    is_aside: bool,
    /// Whether the current row has any content.
    is_begun: bool,
    /// Whether the last line of the dialogue is unfinished.
    asks: bool,
}

impl Dialogue {
    /// Returns the bytes to draw for new bytes; `aside` says whether they are part of the dialogue.
    pub fn draw<'b>(&mut self, aside: bool, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let Some(last) = bytes.last() else { return bytes.into() };
        let breaks = aside != self.is_aside && self.is_begun;
        self.is_aside = aside;
        if !aside {
            self.is_begun = *last != b'\n';
            return if breaks { [b"\r\n", bytes].concat().into() } else { bytes.into() };
        }
        let mut drawn = Vec::with_capacity(bytes.len() + MARKED.len());
        if breaks {
            drawn.extend_from_slice(b"\r\n");
            self.is_begun = false;
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_blank = line.ends_with(b"\n") && line.trim_ascii().is_empty();
            if !self.is_begun && !is_blank {
                drawn.extend_from_slice(MARKED.as_bytes());
            }
            drawn.extend_from_slice(line);
            self.is_begun = !line.ends_with(b"\n");
        }
        self.asks = self.is_begun;
        drawn.into()
    }

    /// Tells whether the last line of the dialogue is unfinished, as with a question.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Returns the text of a row without the mark.
    pub fn strip_mark(row: &str) -> &str {
        row.strip_prefix(MARK).unwrap_or(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(pieces: &[(bool, &str)]) -> String {
        let mut dialogue = Dialogue::default();
        let all: Vec<u8> = pieces
            .iter()
            .flat_map(|(aside, text)| dialogue.draw(*aside, text.as_bytes()).into_owned())
            .collect();
        String::from_utf8(all).expect("text").replace(MARKED, MARK)
    }

    #[test]
    fn output_alone_is_drawn_as_it_came() {
        assert_eq!(drawn(&[(false, "a\nb"), (false, "c\n"), (false, "")]), "a\nbc\n");
    }

    #[test]
    fn a_dialogue_stands_in_rows_of_its_own_and_each_is_marked() {
        let pieces =
            [(false, "half"), (true, "Name: "), (true, "me\r\nPass"), (true, "word: "), (false, "done\n")];
        assert_eq!(drawn(&pieces), "half\r\n» Name: me\r\n» Password: \r\ndone\n");
        // The line feed after a secret belongs to the row of its question, or stands alone.
        assert_eq!(drawn(&[(true, "Password: "), (true, "\r\n"), (false, "ok\n")]), "» Password: \r\nok\n");
        assert_eq!(drawn(&[(false, "ok\n"), (true, "\r\n"), (true, "x")]), "ok\n\r\n» x");
    }

    #[test]
    fn a_question_is_a_line_without_an_end() {
        let mut dialogue = Dialogue::default();
        dialogue.draw(true, b"Password: ");
        dialogue.draw(false, b"output\n");
        assert!(dialogue.asks());
        dialogue.draw(true, b"\r\n");
        assert!(!dialogue.asks());
        assert_eq!(
            (Dialogue::strip_mark("» Password:"), Dialogue::strip_mark("plain")),
            ("Password:", "plain")
        );
    }
}
