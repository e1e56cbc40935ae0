//! How long a string may take. Pure: the time comes from whoever feeds the scanner.

/// How long a program may take from the beginning of a string to its end, in milliseconds. A string in which it
/// writes on for longer is none: a stray introducer.
const LONGEST_MS: u64 = 2_000;

/// Watches how long the current string takes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// The number of the string, and when it was first seen open.
    since: Option<(u64, u64)>,
}

impl Patience {
    /// Tells whether the open string, if there is one, has taken too long. To be called before more output is
    /// fed, with the time at which that output came.
    pub(crate) fn is_over(&mut self, open: Option<u64>, now_ms: u64) -> bool {
        let known = self.since.filter(|(number, _)| Some(*number) == open);
        self.since = known.or(open.map(|number| (number, now_ms)));
        known.is_some_and(|(_, since)| now_ms.saturating_sub(since) >= LONGEST_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_has_its_own_time() {
        let mut patience = Patience::default();
        assert!(!patience.is_over(Some(1), 0) && !patience.is_over(Some(1), 1_999));
        assert!(!patience.is_over(Some(2), 3_000), "another one");
        assert!(!patience.is_over(None, 6_000) && !patience.is_over(Some(2), 7_000));
        assert!(patience.is_over(Some(2), 9_000));
    }
}
