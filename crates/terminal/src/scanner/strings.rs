//! The strings of a terminal: their content until the terminator, and which of them are pictures.

/// The longest OSC that is passed on, in bytes; a longer one is a file or hostile.
const MAX_OSC: usize = 1000;
/// How much of the end of a string a screen keeps: more than it has room for.
const SCREEN: usize = 256 << 10;
/// How a DCS begins that passes a string through tmux, with each ESC in it doubled.
const THROUGH_TMUX: &[u8] = b"tmux;";

/// A string and its content.
#[derive(Debug)]
pub(super) struct HeldString {
    /// The byte of the introducer after ESC.
    kind: u8,
    /// How many have begun.
    number: u64,
    /// The first bytes, which tell what it is.
    head: Vec<u8>,
    /// The content; if it is long, at least the last [`Self::keep`] bytes of it.
    content: Vec<u8>,
    length: usize,
    keep: usize,
    /// Bytes of a picture that is sent in several strings, so far.
    picture: usize,
}

/// What a complete string was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EndedString<'a> {
    Osc(&'a [u8]),
    /// A picture, or the last part of one, with the bytes of all parts.
    Picture(usize),
    Nothing,
}

/// The part that a string has in a picture.
enum StringPart {
    /// More of it follows.
    Middle,
    Last,
    None,
}

impl Default for HeldString {
    fn default() -> Self {
        let (head, content) = (Vec::new(), Vec::new());
        Self { kind: 0, number: 0, head, content, length: 0, keep: super::MAX_STRING, picture: 0 }
    }
}

impl HeldString {
    pub(super) fn for_screen() -> Self {
        Self { keep: SCREEN, ..Self::default() }
    }

    pub(super) fn begin(&mut self, kind: u8) {
        self.clear();
        self.kind = kind;
        self.number += 1;
    }

    fn clear(&mut self) {
        self.head.clear();
        self.drop_content();
        self.length = 0;
    }

    /// Drops the content, and the memory of a long one.
    fn drop_content(&mut self) {
        self.content.clear();
        self.content.shrink_to(MAX_OSC);
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.content.capacity()
    }

    /// Returns where in `bytes` something comes that may end the string.
    pub(super) fn end_in(&self, bytes: &[u8]) -> Option<usize> {
        let end = memchr::memchr3(0x1b, 0x18, 0x1a, bytes);
        match self.kind {
            b']' => memchr::memchr(0x07, &bytes[..end.unwrap_or(bytes.len())]).or(end),
            _ => end,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let missing = (MAX_OSC + 1).saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        self.content.extend_from_slice(bytes);
        self.length += bytes.len();
        if self.content.len() > 2 * self.keep {
            self.content.drain(..self.content.len() - self.keep);
        }
    }

    /// Tells whether an ESC in it is doubled.
    pub(super) fn doubles_escapes(&self) -> bool {
        self.kind == b'P' && self.head.starts_with(THROUGH_TMUX)
    }

    /// Returns the content to be shown as text.
    pub(super) fn give_up(&mut self) -> Vec<u8> {
        let surplus = self.content.len().saturating_sub(self.keep);
        let content = self.content.split_off(surplus);
        self.clear();
        content
    }

    /// Ends a string that has its terminator.
    pub(super) fn end(&mut self) -> EndedString<'_> {
        self.drop_content();
        match self.part() {
            StringPart::Middle => {
                self.picture = self.picture.saturating_add(self.length);
                EndedString::Nothing
            }
            StringPart::Last => {
                EndedString::Picture(std::mem::take(&mut self.picture).saturating_add(self.length))
            }
            StringPart::None if self.kind == b']' && self.head.len() <= MAX_OSC => {
                self.head.retain(|byte| *byte >= 0x20);
                EndedString::Osc(&self.head)
            }
            StringPart::None => EndedString::Nothing,
        }
    }

    /// Returns the bytes of a picture of which the end never came.
    pub(super) fn end_pictures(&mut self) -> Option<usize> {
        Some(std::mem::take(&mut self.picture)).filter(|bytes| *bytes > 0)
    }

    /// Tells whether it is a picture: sixel, the graphics of kitty, or a file of iTerm2.
    fn part(&self) -> StringPart {
        let (kind, head) = match self.head.strip_prefix(THROUGH_TMUX).filter(|_| self.kind == b'P') {
            Some(inner) => {
                let begin = inner.iter().position(|byte| *byte != 0x1b).unwrap_or(inner.len());
                match inner[begin..].split_first() {
                    Some((kind, head)) => (*kind, head),
                    None => return StringPart::None,
                }
            }
            None => (self.kind, self.head.as_slice()),
        };
        match kind {
            b'P' => {
                let last = head.iter().find(|byte| !matches!(byte, b'0'..=b'9' | b';'));
                if last == Some(&b'q') { StringPart::Last } else { StringPart::None }
            }
            b'_' => match head.strip_prefix(b"G") {
                Some(rest) => self.part_of_kitty(rest),
                None => StringPart::None,
            },
            b']' => match head.strip_prefix(b"1337;") {
                Some(rest) if rest.starts_with(b"File=") => StringPart::Last,
                Some(rest) if rest.starts_with(b"FilePart=") => StringPart::Middle,
                Some(rest) if rest.starts_with(b"FileEnd") && self.picture > 0 => StringPart::Last,
                _ => StringPart::None,
            },
            _ => StringPart::None,
        }
    }

    fn part_of_kitty(&self, head: &[u8]) -> StringPart {
        let mut parts = head.splitn(2, |byte| *byte == b';');
        let keys = parts.next().unwrap_or_default();
        let has_data = parts.next().is_some_and(|data| !data.is_empty() && data[0] != 0x1b);
        let has = |key: &[u8]| keys.split(|byte| *byte == b',').any(|own| own == key);
        if has(b"m=1") {
            StringPart::Middle
        } else if self.picture > 0 || has_data && !has(b"a=q") {
            StringPart::Last
        } else {
            StringPart::None
        }
    }
}

/// Returns what is shown in place of a picture: `[image 53 kB]`.
pub(crate) fn label(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("[image {bytes} B]"),
        1_000..999_500 => format!("[image {} kB]", (bytes + 500) / 1_000),
        _ => format!("[image {}.{} MB]", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
