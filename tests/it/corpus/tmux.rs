//! tmux as the reference terminal: a server of its own, one pane of a given size, arbitrary bytes shown in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use pilothouse::terminal::Size;

use super::capture::{self, Widths, columns};
use super::picture::{Cursor, Picture, Seen};
use crate::support::wait_until_or;

/// A server without any settings; dropping this ends it.
pub(super) struct Tmux {
    socket: PathBuf,
    folder: PathBuf,
    size: Size,
    shown: Cell<u32>,
}

/// What is queried from a pane in addition to its cells.
const FACTS: [&str; 9] = [
    "pane_title",
    "pane_width",
    "pane_height",
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    "alternate_on",
    "keypad_cursor_flag",
    "keypad_flag",
];

const MOUSE: &str = "#{mouse_standard_flag}#{mouse_button_flag}#{mouse_all_flag}";

/// Resets every mode that would change how the following bytes are interpreted.
const PLAIN: &str = "\x1b[?6l\x1b[r\x1b[4l\x1b[?7h\x1b[m\x1b(B\x0f";

/// A snapshot of a pane.
#[derive(Debug)]
struct Moment {
    facts: BTreeMap<&'static str, String>,
    mouse: String,
    capture: String,
}

impl Tmux {
    /// Returns the version of the installed tmux, if any.
    pub(super) fn version() -> Option<String> {
        let told = Command::new("tmux").arg("-V").output().ok()?;
        Some(String::from_utf8_lossy(&told.stdout).trim().trim_start_matches("tmux ").to_owned())
    }

    /// Starts a server with its files in `dir`.
    pub(super) fn start(dir: &Path, size: Size) -> Self {
        let tmux =
            Self { socket: dir.join("tmux.sock"), folder: dir.to_path_buf(), size, shown: Cell::new(0) };
        let (width, height) = (size.cols().to_string(), size.rows().to_string());
        tmux.ask(&["set", "-g", "status", "off", ";", "new", "-d", "-x", &width, "-y", &height, "cat"]);
        tmux
    }

    /// Shows bytes in an empty pane, and returns the screen once all of them have been processed.
    ///
    /// A capture ends each row at its last character, whatever the background of the blanks after it. So the bytes
    /// are shown again with a character in the last column, so that the blanks before it are captured, and once
    /// more with the last column first shifted to the left.
    pub(super) fn shows(&self, bytes: &[u8]) -> Picture {
        let last = self.size.cols();
        let put = |row| format!("\x1b[{row};{last}HX");
        let shift = |row| format!("\x1b[{row};{}H\x1b[P{}", last - 1, put(row));
        let on_each_row = |probe: &dyn Fn(u16) -> String| {
            let probes: String = (1..=self.size.rows()).map(probe).collect();
            [bytes, PLAIN.as_bytes(), probes.as_bytes()].concat()
        };
        let plain = self.moment(bytes);
        let filled = self.moment(&on_each_row(&put));
        let shifted = self.moment(&on_each_row(&shift));
        Picture { rows: self.rows(&plain, &filled, &shifted), ..plain.state() }
    }

    fn rows(&self, plain: &Moment, filled: &Moment, shifted: &Moment) -> Vec<Vec<Seen>> {
        let read = |widths| [plain, filled, shifted].map(|moment| capture::rows(&moment.capture, widths));
        let readings = [Widths::OfTheFirst, Widths::OfEmoji].map(read);
        let rows = (0..usize::from(self.size.rows())).map(|row| {
            let of = |reading: &[Vec<Vec<Seen>>; 3]| [0, 1, 2].map(|which| reading[which][row].clone());
            let adds_up = |[_, filled, _]: &[Vec<Seen>; 3]| columns(filled) == usize::from(self.size.cols());
            let found = readings.iter().map(of).find(adds_up);
            let [plain, mut filled, shifted] = found.unwrap_or_else(|| {
                panic!("columns of row {row} that come to those of the pane:\n{plain:?}\n{filled:?}")
            });
            if columns(&plain) == usize::from(self.size.cols()) {
                return plain;
            }
            let last = shifted.len() - 2;
            filled.pop();
            filled.push(shifted[last].clone());
            filled
        });
        rows.collect()
    }

    /// Shows bytes in an empty pane, followed by a title; returns the pane once it has that title.
    fn moment(&self, bytes: &[u8]) -> Moment {
        self.shown.set(self.shown.get() + 1);
        let word = format!("shown-{}", self.shown.get());
        let said = format!("\x1b]2;{word}\x1b\\");
        // A separate file: the previous pane's program may still be reading the last one.
        let file = self.folder.join(&word);
        std::fs::write(&file, [bytes, said.as_bytes()].concat()).expect("written");
        let show = format!("stty raw -echo; cat '{}'; exec cat >/dev/null", file.display());
        self.ask(&["respawn-pane", "-k", &show]);
        let format: String = FACTS.iter().map(|fact| format!("#{{{fact}}}\n")).collect();
        let format = format!("{format}{MOUSE}");
        let answer = RefCell::new(String::new());
        wait_until_or(
            || format!("tmux shows all of {} bytes; it says:\n{}", bytes.len(), answer.borrow()),
            || {
                answer.replace(self.ask(&["display", "-p", &format, ";", "capture-pane", "-p", "-e", "-N"]));
                answer.borrow().starts_with(&format!("{word}\n"))
            },
        );
        let answer = answer.into_inner();
        let mut rest = answer.splitn(FACTS.len() + 2, '\n');
        let facts: BTreeMap<_, _> =
            FACTS.iter().copied().zip(rest.by_ref().map(str::to_owned).take(FACTS.len())).collect();
        let mouse = rest.next().expect("the mouse").to_owned();
        let moment = Moment { facts, mouse, capture: rest.next().unwrap_or_default().to_owned() };
        let size = (moment.number("pane_width"), moment.number("pane_height"));
        assert_eq!(size, (self.size.cols(), self.size.rows()), "the size of the pane");
        moment
    }

    fn ask(&self, args: &[&str]) -> String {
        let path = std::env::var_os("PATH").expect("a path");
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", path).env("LANG", "C.UTF-8").env("SHELL", "/bin/sh");
        command.arg("-u").arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        let answer = command.output().expect("tmux");
        assert!(answer.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&answer.stderr));
        String::from_utf8(answer.stdout).expect("text")
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.ask(&["kill-server"]);
            return;
        }
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").status();
    }
}

impl Moment {
    fn number(&self, fact: &str) -> u16 {
        self.facts[fact].parse().expect("a number")
    }

    /// Everything except the cells.
    fn state(&self) -> Picture {
        let is_set = |fact| self.number(fact) == 1;
        Picture {
            rows: Vec::new(),
            cursor: Cursor {
                row: self.number("cursor_y"),
                column: self.number("cursor_x"),
                is_visible: is_set("cursor_flag"),
            },
            modes: BTreeMap::from([
                ("alternate screen", is_set("alternate_on")),
                ("cursor keys", is_set("keypad_cursor_flag")),
                ("keypad", is_set("keypad_flag")),
                ("mouse", self.mouse.contains('1')),
            ]),
        }
    }
}
