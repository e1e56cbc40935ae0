//! What the console draws of a task's screen: the terminal around it shows exactly the cells of the pane.

use std::path::PathBuf;

use pilothouse::runtime::{log_path, read_marks};
use pilothouse::terminal::{ByteOrigin, MarkKind, Size, Terminal};

use super::material::{CODE, repository};
use super::picture::Picture;
use super::samples::UNICODE;
use super::session::has;
use crate::support::{Console, Home, skip, wait_until_or};

/// The number of console rows above a pane that is being typed into, and the size of the terminal.
const ABOVE: u16 = 2;
const SIZE: (u16, u16) = (80, 24);

/// A console with one task that is being typed into.
struct Focus<'a> {
    console: Console,
    home: &'a Home,
}

impl<'a> Focus<'a> {
    /// Starts a command, whose terminal has the size of its pane, with the keys in it, and waits until it shows `ready`.
    fn on(home: &'a Home, cmd: &str, ready: &str) -> Self {
        let console = Console::open(home, &[], SIZE);
        console.shows("a command of your own, here");
        console.keys(format!("o{cmd}\r").as_bytes());
        console.shows(" INPUT t01");
        console.shows(ready);
        Self { console, home }
    }

    fn types(&self, keys: &str) -> &Self {
        self.console.keys(keys.as_bytes());
        self
    }

    fn shows(&self, text: &str) -> &Self {
        self.console.shows(text);
        self
    }

    /// Waits until every cell of the pane equals the task's screen, redrawn from its log, and the cursor too.
    #[track_caller]
    fn is_drawn_whole(&self) -> &Self {
        let differs = std::cell::RefCell::new(String::new());
        wait_until_or(
            || format!("the pane as the task's screen: {}\n{}", differs.borrow(), self.console.text()),
            || {
                let told = self.told();
                let rows = u16::try_from(told.rows.len()).expect("rows");
                let drawn = self.console.look(|screen| Picture::of_console(screen, ABOVE..ABOVE + rows));
                let mut found = format!("{:?}", drawn.differing_rows(&told));
                if drawn.cursor != told.cursor {
                    found = format!("{found} {:?}, not {:?}", drawn.cursor, told.cursor);
                }
                differs.replace(found);
                drawn.differing_rows(&told).is_empty() && drawn.cursor == told.cursor
            },
        );
        self
    }

    /// The task's screen, from its log and its sizes.
    fn told(&self) -> Picture {
        let folder = self.folder();
        let log = std::fs::read(log_path(&folder)).expect("the log");
        let mut terminal = Terminal::new(Size::default(), ByteOrigin::Tty);
        let mut fed = 0;
        for mark in read_marks(&folder).expect("marks") {
            let until = usize::try_from(mark.offset).expect("an offset").min(log.len());
            terminal.feed(&log[fed..until]);
            fed = until;
            if let MarkKind::Resize(size) = mark.kind {
                terminal.resize(size);
            }
        }
        terminal.feed(&log[fed..]);
        let mut told = Picture::of(&terminal);
        told.cursor.column = told.cursor.column.min(terminal.size().cols() - 1);
        told
    }

    fn folder(&self) -> PathBuf {
        let only = |folder: PathBuf| {
            let mut inside = std::fs::read_dir(&folder).expect("lists").flatten().map(|entry| entry.path());
            let found = inside.find(|path| path.is_dir());
            found.unwrap_or_else(|| panic!("a folder in {}", folder.display()))
        };
        only(only(self.home.places().recordings()).join("tasks"))
    }
}

#[test]
fn vim_is_drawn_whole_by_the_console() {
    if !has("vim") {
        return skip("no vim on this machine");
    }
    let home = Home::new();
    std::fs::write(home.workspace().join("ship.rs"), CODE).expect("written");
    let vim = Focus::on(&home, "vim -u NONE -N ship.rs", "\n\"ship.rs\"");
    vim.shows("//! A ship").is_drawn_whole();
    vim.types(":syntax on\r:set number cursorline\r:colorscheme blue\r:echo 'blue now'\r")
        .shows("\nblue now");
    vim.is_drawn_whole().types("10\x05V3j").shows("VISUAL LINE").is_drawn_whole();
}

#[test]
fn unicode_is_drawn_whole_by_the_console() {
    let home = Home::new();
    for (page, samples) in UNICODE.chunks(19).enumerate() {
        let rows: String = samples.iter().map(|(name, sample)| format!("{name}: {sample}|\n")).collect();
        std::fs::write(home.workspace().join(format!("page-{page}")), format!("\x1b[2J\x1b[H{rows}"))
            .expect("written");
    }
    let cat =
        Focus::on(&home, "stty -echo; for page in page-*; do read next; cat $page; done; read next", "");
    for samples in UNICODE.chunks(19) {
        let (last, _) = samples[samples.len() - 1];
        cat.types("\r").shows(&format!("\n{last}: ")).is_drawn_whole();
    }
}

#[test]
fn git_log_is_drawn_whole_by_the_console() {
    if !has("less") || !has("git") {
        return skip("no git or no less on this machine");
    }
    let home = Home::new();
    repository(&home.workspace());
    let git = Focus::on(&home, "GIT_PAGER='less -R' git log --graph --color=always --stat", "\n:");
    // `less` decides for itself which part it shows after its window has shrunk.
    git.types("g").shows("(HEAD -> main)").is_drawn_whole();
    git.types("/side 3\r").shows("港 🚢").is_drawn_whole().types("G").shows("(END)").is_drawn_whole();
}
