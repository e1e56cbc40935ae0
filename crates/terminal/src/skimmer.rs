//! Finds output that would have scrolled away before anyone could see it, so that it need not be drawn.
//! Exact: screen and scrollback end up as if everything had been drawn.
//!
//! It examines a run of text in which every control affects only its own line. If the run has more lines than
//! fit in screen and scrollback, all but the last of them leave nothing behind except colours, character sets
//! and OSC properties.

use std::ops::Range;

/// What can be skipped at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Skim {
    /// Where drawing resumes, at the beginning of a line.
    pub(super) resume: usize,
    /// Sequences from the skipped part that must still be applied, in order.
    pub(super) kept: Vec<u8>,
    /// Whether a bell rang in the skipped part.
    pub(super) bell: bool,
}

/// The lines around the skipped part.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkippedLines {
    /// The number of rows of the screen: at least as many must be skipped, or the cursor would not have
    /// reached the bottom.
    pub(super) rows: usize,
    /// The number of lines kept above the screen.
    pub(super) scrollback: usize,
    /// Whether a bare line feed also returns to the first column.
    pub(super) feed_returns: bool,
}

/// Returns what can be skipped of `bytes` when they are fed to a screen without a scroll region.
pub(super) fn skim(bytes: &[u8], lines: SkippedLines) -> Option<Skim> {
    let keep = lines.rows + lines.scrollback + 1;
    if count_lines(bytes) < keep + lines.rows {
        return None;
    }
    let run = PlainRun::read(bytes);
    let resume = resume_point(&bytes[..run.end], keep, lines.feed_returns)?;
    // REP repeats the last character, which must therefore be among those that are drawn.
    if run.printed_until <= resume || count_lines(&bytes[..resume]) < lines.rows {
        return None;
    }
    let kept =
        lasting_sequences(bytes, run.sequences.into_iter().take_while(|sequence| sequence.end <= resume));
    Some(Skim { resume, kept, bell: memchr::memchr(0x07, &bytes[..resume]).is_some() })
}

/// Returns the sequences that still have an effect at the end; colours set before a reset do not.
fn lasting_sequences(bytes: &[u8], sequences: impl Iterator<Item = Range<usize>>) -> Vec<u8> {
    let (mut colors, mut others) = (Vec::new(), Vec::new());
    for sequence in sequences {
        match &bytes[sequence] {
            reset @ (b"\x1b[m" | b"\x1b[0m") => {
                colors.clear();
                colors.extend_from_slice(reset);
            }
            color @ [0x1b, b'[', ..] => colors.extend_from_slice(color),
            other => others.extend_from_slice(other),
        }
    }
    [others, colors].concat()
}

fn count_lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Returns the beginning of the last line that is followed by at least `keep` line feeds.
fn resume_point(run: &[u8], keep: usize, feed_returns: bool) -> Option<usize> {
    let returns = |feed: &usize| feed_returns || run[..*feed].ends_with(b"\r");
    memchr::memrchr_iter(b'\n', run).skip(keep).find(returns).map(|feed| feed + 1)
}

/// A run of text in which every sequence affects its own line only.
struct PlainRun {
    end: usize,
    /// Sequences with a lasting effect.
    sequences: Vec<Range<usize>>,
    /// The end of the last piece of text that contains anything visible.
    printed_until: usize,
}

impl PlainRun {
    fn read(bytes: &[u8]) -> Self {
        let mut run = Self { end: 0, sequences: Vec::new(), printed_until: 0 };
        while run.end < bytes.len() {
            let rest = &bytes[run.end..];
            let text_len = memchr::memchr(0x1b, rest).unwrap_or(rest.len());
            let text = &rest[..text_len];
            if let Some(shift) = memchr::memchr2(0x0e, 0x0f, text) {
                run.end += shift;
                break;
            }
            if let Some(at) = text.iter().rposition(|byte| matches!(byte, b' '..=b'~')) {
                run.printed_until = run.end + at + 1;
            }
            run.end += text_len;
            match line_local(&rest[text_len..]) {
                None => break,
                Some((len, lasting)) => {
                    if lasting {
                        run.sequences.push(run.end..run.end + len);
                    }
                    run.end += len;
                }
            }
        }
        run
    }
}

/// Returns the length of the sequence at the beginning of `bytes`, and whether its effect lasts; `None` if it
/// is incomplete or may affect other lines.
fn line_local(bytes: &[u8]) -> Option<(usize, bool)> {
    match bytes {
        [0x1b, b'[', body @ ..] => {
            let end = body.iter().take(64).position(|byte| !matches!(byte, b'0'..=b';'))?;
            match body[end] {
                b'm' => Some((end + 3, true)),
                b'K' | b'G' | b'C' | b'D' | b'X' | b'@' | b'P' => Some((end + 3, false)),
                _ => None,
            }
        }
        [0x1b, b'(' | b')', b' '..=b'~', ..] => Some((3, true)),
        // The file of a picture is drawn as a label.
        [0x1b, b']', b'1', b'3', b'3', b'7', b';', ..] => None,
        [0x1b, b']', body @ ..] => {
            let end = body.iter().take(1000).position(|byte| matches!(byte, 0..=0x1f))?;
            match body[end..] {
                [0x07, ..] => Some((end + 3, true)),
                [0x1b, b'\\', ..] => Some((end + 4, true)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: SkippedLines = SkippedLines { rows: 3, scrollback: 2, feed_returns: false };

    fn numbered(count: usize) -> Vec<u8> {
        (0..count).flat_map(|n| format!("line {n}\r\n").into_bytes()).collect()
    }

    #[test]
    fn a_few_lines_are_all_drawn() {
        assert_eq!(skim(&numbered(8), LINES), None);
    }

    #[test]
    fn lines_that_scrolled_away_are_left_out() {
        let bytes = numbered(20);
        let skim = skim(&bytes, LINES).unwrap();
        assert!(bytes[skim.resume..].starts_with(b"line 14\r\n"));
        assert_eq!(skim.kept, b"");
    }

    #[test]
    fn colours_sets_and_commands_are_kept_and_a_reset_forgets() {
        let bytes = [b"\x1b[31ma\x1b[m\x1b[1m\x1b(0\x1b]0;t\x07\x07".as_slice(), &numbered(20)].concat();
        let skim = skim(&bytes, LINES).unwrap();
        assert_eq!(skim.kept, b"\x1b(0\x1b]0;t\x07\x1b[m\x1b[1m");
        assert!(skim.bell);
    }

    #[test]
    fn a_sequence_that_leaves_its_line_ends_the_run() {
        let bytes = [numbered(20), b"\x1b[A".to_vec(), numbered(20)].concat();
        assert!(skim(&bytes, LINES).unwrap().resume < numbered(20).len());
    }

    #[test]
    fn bare_line_feeds_keep_the_column_so_they_are_all_drawn() {
        let bytes = b"x\n".repeat(50);
        assert_eq!(skim(&bytes, LINES), None);
        assert!(skim(&bytes, SkippedLines { feed_returns: true, ..LINES }).is_some());
    }
}
