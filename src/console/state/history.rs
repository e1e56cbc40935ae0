//! Lines that were written before; never one that was hidden.

/// Maximum number of lines in the history.
pub(in crate::console) const KEPT: usize = 100;

/// Lines entered before, and which of them is recalled.
#[derive(Debug, Clone, Default)]
pub struct InputHistory {
    lines: Vec<String>,
    /// How many lines back; 0 is the line being typed.
    back: usize,
}

impl InputHistory {
    /// Adds a line; an immediate repetition is not added again.
    pub fn keep(&mut self, line: &str) {
        self.back = 0;
        if line.trim().is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return;
        }
        if self.lines.len() == KEPT {
            self.lines.remove(0);
        }
        self.lines.push(line.to_owned());
    }

    /// Returns to the line being typed.
    pub fn rest(&mut self) {
        self.back = 0;
    }

    /// Steps to an older or newer line; after the newest comes an empty one.
    pub fn step(&mut self, older: bool) -> Option<String> {
        let to = if older { self.back + 1 } else { self.back.checked_sub(1)? };
        if to == 0 {
            self.back = 0;
            return Some(String::new());
        }
        let line = self.lines.len().checked_sub(to).and_then(|at| self.lines.get(at))?;
        self.back = to;
        Some(line.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_newest_first() {
        let mut lines = InputHistory::default();
        for line in ["one", "two", "two", " "] {
            lines.keep(line);
        }
        assert_eq!(lines.step(true).as_deref(), Some("two"));
        assert_eq!(lines.step(true).as_deref(), Some("one"));
        assert_eq!(lines.step(true), None);
        assert_eq!(lines.step(false).as_deref(), Some("two"));
        assert_eq!(lines.step(false).as_deref(), Some(""));
        assert_eq!(lines.step(false), None);
    }
}
