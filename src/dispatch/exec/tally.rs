//! The outcomes of the lines so far, and the exit code that follows from them.

/// Counts lines.
#[derive(Debug, Default)]
pub(super) struct Tally {
    malformed: u64,
    well_formed: u64,
    failed: u64,
}

impl Tally {
    pub(super) fn count(&mut self, well_formed: bool, ok: bool) {
        if well_formed {
            self.well_formed += 1;
        } else {
            self.malformed += 1;
        }
        if !ok {
            self.failed += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.well_formed + self.malformed == 0
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Returns the exit code. 0: no line failed. 2: a line was malformed, and no well-formed one was processed (none
    /// ever is if lines are only validated). 1: any other failure.
    pub(super) fn exit_code(&self, validated_only: bool) -> u8 {
        let processed = if validated_only { 0 } else { self.well_formed };
        match (self.failed, self.malformed, processed) {
            (0, ..) => 0,
            (_, 1.., 0) => 2,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_tells_a_malformed_stream_from_a_failed_line() {
        for (lines, validated, code) in [
            (vec![(true, true)], false, 0),
            (vec![(true, true), (true, false)], false, 1),
            (vec![(false, false)], false, 2),
            (vec![(false, false), (true, true)], false, 1),
            (vec![(false, false), (true, true)], true, 2),
            (vec![(true, false)], true, 1),
            (vec![(true, true)], true, 0),
        ] {
            let mut tally = Tally::default();
            lines.iter().for_each(|(well_formed, ok)| tally.count(*well_formed, *ok));
            assert_eq!(tally.exit_code(validated), code, "{lines:?}");
        }
    }
}
