//! Queries the terminal's capabilities: its size, its keys, and how wide it draws characters. Only a terminal that is
//! also used for input is queried, and its state is restored.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use super::print;
use crate::dispatch::Probe;
use crate::terminal::host_terminal::{self, HostTerminal, parse_osc};

/// Queries the keyboard protocol; draws a wide character and then a marker on the empty line, querying the cursor
/// position after each; clears the line; and sends a query that every terminal answers.
const QUESTIONS: &str = "\x1b[?u\r界\x1b[6n\r●\x1b[6n\r\x1b[K\x1b[c";
/// How long a terminal may take to answer.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
/// The maximum length of an answer, in bytes.
const MOST: usize = 4_096;

/// Queries the terminal; `None` if there is none.
pub(super) fn probe() -> Option<Probe> {
    if !print::is_terminal() || !io::stdin().is_terminal() {
        return None;
    }
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    let size = tcgetwinsize(&tty).ok()?;
    let answer = ask(&tty).unwrap_or_default();
    Some(Probe {
        size: (size.ws_col, size.ws_row),
        kitty_keys: has_kitty_keys(&answer),
        wide_columns: columns(&answer).next(),
        host: host_terminal(&answer),
    })
}

/// Returns what the answer says about colours and the width of the marker.
fn host_terminal(answer: &[u8]) -> HostTerminal {
    let mut host = HostTerminal { ambiguous_columns: columns(answer).nth(1), ..HostTerminal::default() };
    let starts = memchr::memmem::find_iter(answer, b"\x1b]");
    for body in starts.filter_map(|at| answer.get(at + 2..)) {
        let end = body.iter().position(|byte| matches!(byte, 0x07 | 0x1b)).unwrap_or(body.len());
        if let Some(answer) = parse_osc(&body[..end]) {
            host.record(answer);
        }
    }
    host
}

fn ask(mut tty: &File) -> io::Result<Vec<u8>> {
    let before = tcgetattr(tty)?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(tty, OptionalActions::Flush, &raw)?;
    let questions = host_terminal::colour_queries() + QUESTIONS;
    let answer = tty.write_all(questions.as_bytes()).and_then(|()| listen(tty));
    tcsetattr(tty, OptionalActions::Flush, &before)?;
    answer
}

/// Reads until the last query is answered or nothing more arrives.
fn listen(mut tty: &File) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    while answer.len() < MOST && !ends(&answer) {
        let mut ready = [PollFd::new(tty, PollFlags::IN)];
        if poll(&mut ready, Some(&PATIENCE))? == 0 {
            break;
        }
        let mut piece = [0; 64];
        let read = tty.read(&mut piece)?;
        answer.extend_from_slice(&piece[..read]);
        if read == 0 {
            break;
        }
    }
    Ok(answer)
}

/// Returns the escape sequences in an answer: the part between `ESC [` and the final letter, and that letter.
fn sequences(answer: &[u8]) -> Vec<(String, char)> {
    let text = String::from_utf8_lossy(answer);
    let pieces = text.split("\x1b[").skip(1);
    pieces
        .filter_map(|piece| {
            let end = piece.find(|letter: char| letter.is_ascii_alphabetic())?;
            Some((piece.get(..end)?.to_owned(), piece.get(end..)?.chars().next()?))
        })
        .collect()
}

fn ends(answer: &[u8]) -> bool {
    sequences(answer).iter().any(|(body, letter)| *letter == 'c' && body.starts_with('?'))
}

fn has_kitty_keys(answer: &[u8]) -> bool {
    sequences(answer).iter().any(|(body, letter)| *letter == 'u' && body.starts_with('?'))
}

/// Returns the number of columns that each character took, in the order of the queries.
fn columns(answer: &[u8]) -> impl Iterator<Item = u16> {
    sequences(answer).into_iter().filter_map(|(body, letter)| match (letter, body.split_once(';')) {
        ('R', Some((_, column))) => column.parse::<u16>().ok().map(|column| column.saturating_sub(1)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_a_terminal_are_told_apart_and_noise_holds_none() {
        let kitty = b"\x1b[?0u\x1b[12;3R\x1b[?62;22c";
        assert!(ends(kitty) && has_kitty_keys(kitty));
        assert_eq!(columns(kitty).collect::<Vec<_>>(), [2]);
        let plain = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]4;3;#102030\x07\x1b[1;3R\x1b[1;2R\x1b[?1;2c";
        assert!(ends(plain) && !has_kitty_keys(plain));
        assert_eq!(columns(plain).collect::<Vec<_>>(), [2, 1]);
        let outer = host_terminal(plain);
        assert_eq!((outer.background, outer.ambiguous_columns), (Some((255, 255, 255)), Some(1)));
        assert_eq!(outer.palette[3], Some((16, 32, 48)));
        for noise in [&b""[..], b"\x1b[", b"\x1b[?1;2", b"abc", b"\xff\x1b[R"] {
            assert!(!ends(noise) && columns(noise).next().is_none());
        }
    }
}
