//! Lines a person wrote before, to be called back. Never one that was to be hidden.

/// Lines kept.
const KEPT: usize = 100;

/// Lines written before, and which of them is called back.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    lines: Vec<String>,
    /// How far back; 0 is the line being written.
    back: usize,
}

impl Lines {
    /// Keeps a line; the same twice in a row is kept once.
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

    /// Begins anew at the line being written.
    pub fn rest(&mut self) {
        self.back = 0;
    }

    /// Calls back the line before, or the one after; beyond the newest is an empty one.
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
        let mut lines = Lines::default();
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
