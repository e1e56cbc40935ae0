//! The real program in a real terminal: what it draws, what is typed into it, how it exits.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use memchr::memmem;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use vt100::{Parser, Screen};

use super::{Home, PATIENCE};

/// The beginning and the end of a frame (synchronized output). It is shown once it is complete, but after a while in any
/// case: its program may have been killed.
const FRAME: [&[u8]; 2] = [b"\x1b[?2026h", b"\x1b[?2026l"];
const HOLD: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// The pause of a slow line after each piece, and the size of one.
const SLOW: (Timespec, usize) = (Timespec { tv_sec: 0, tv_nsec: 10_000_000 }, 200);

/// A program in a terminal of its own, and a stand-in for the person in front of it.
pub(crate) struct Console {
    child: Child,
    master: Option<File>,
    /// Kept open: the terminal outlives the program, so its state can be inspected afterwards.
    slave: OwnedFd,
    before: Termios,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    reading: Option<(JoinHandle<()>, OwnedFd)>,
}

/// Everything that the terminal has received so far.
struct Seen {
    parser: Parser,
    bytes: Vec<u8>,
    /// How many of the bytes are on the screen.
    drawn: usize,
}

impl Seen {
    /// Takes what has arrived, or nothing if nothing has for a while; tells whether a frame is still incomplete.
    fn take(&mut self, chunk: &[u8]) -> bool {
        let [begins, ends] = FRAME;
        self.bytes.extend_from_slice(chunk);
        // The beginning of a frame may have arrived in two pieces.
        let from = self.drawn.saturating_sub(begins.len() - 1);
        let rest = &self.bytes[from..];
        let is_open = |at: &usize| !chunk.is_empty() && memmem::find(&rest[*at..], ends).is_none();
        let held = memmem::rfind(rest, begins).filter(is_open);
        let until = held.map_or(self.bytes.len(), |at| self.drawn.max(from + at));
        self.parser.process(&self.bytes[self.drawn..until]);
        self.drawn = until;
        held.is_some()
    }
}

impl Console {
    /// Opens `pilothouse` with arguments in a terminal of `columns` x `rows`.
    #[track_caller]
    pub(crate) fn open(home: &Home, args: &[&str], (columns, rows): (u16, u16)) -> Self {
        let mut program = home.command(args);
        program.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("LC_ALL");
        program.env_remove("NO_COLOR").env_remove("CLICOLOR");
        Self::of(&program, (columns, rows))
    }

    /// Opens any program in a terminal.
    pub(crate) fn of(program: &Command, (columns, rows): (u16, u16)) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let slave = ioctl_tiocgptpeer(&master, flags).expect("its other side");
        tcsetwinsize(&master, winsize(columns, rows)).expect("sized");
        let before = tcgetattr(&slave).expect("a state");
        let stream = || Stdio::from(slave.try_clone().expect("a descriptor"));
        // A session of its own, with this terminal as its controlling terminal.
        let mut command = super::run_by(&["setsid", "--ctty"], program);
        let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("starts");
        let seen = Seen { parser: Parser::new(cells(rows), cells(columns), 0), bytes: Vec::new(), drawn: 0 };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let master = File::from(master);
        let reading = Some(read(master.try_clone().expect("a descriptor"), Arc::clone(&seen), None));
        Self { child, master: Some(master), slave, before, seen, reading }
    }

    /// Waits until the screen satisfies `fact`; panics with `what` and the screen otherwise.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, fact: impl Fn(&Screen) -> bool) {
        if !self.is_so_within(PATIENCE, fact) {
            panic!("waited {} s for: {what}; the screen shows:\n{}\n", PATIENCE.as_secs(), self.text());
        }
    }

    /// Waits until the screen satisfies `fact`; returns false when `patience` has run out.
    #[expect(clippy::disallowed_methods, reason = "patience is measured in real time")]
    fn is_so_within(&self, patience: Duration, fact: impl Fn(&Screen) -> bool) -> bool {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + patience;
        let mut seen = seen.lock().expect("seen");
        while !fact(seen.parser.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = changed.wait_timeout(seen, left).expect("seen").0;
        }
        true
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        self.wait_for(&format!("{text:?}"), |screen| picture(screen).contains(text));
    }

    /// Sends the keys again every half second until the screen shows `text`: their target may not be there yet.
    #[track_caller]
    pub(crate) fn asks_until(&self, keys: &[u8], text: &str) {
        let shown = |screen: &Screen| picture(screen).contains(text);
        for _ in 0..40 {
            self.keys(keys);
            if self.is_so_within(Duration::from_millis(500), shown) {
                return;
            }
        }
        self.shows(text);
    }

    /// Waits until `look` finds something in the text of the screen, and returns it.
    #[track_caller]
    pub(crate) fn shown_until<R>(&self, what: &str, look: impl Fn(&str) -> Option<R>) -> R {
        self.wait_for(what, |screen| look(&picture(screen)).is_some());
        look(&self.text()).unwrap_or_else(|| panic!("{what} has gone again:\n{}\n", self.text()))
    }

    /// Inspects the screen as it is now.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Screen) -> R) -> R {
        look(self.seen.0.lock().expect("seen").parser.screen())
    }

    /// Waits until the screen shows one of `texts`.
    #[track_caller]
    pub(crate) fn shows_one(&self, texts: &[&str]) {
        self.wait_for(&format!("one of {texts:?}"), |screen| {
            let picture = picture(screen);
            texts.iter().any(|text| picture.contains(text))
        });
    }

    /// Returns the text of the screen.
    pub(crate) fn text(&self) -> String {
        picture(self.seen.0.lock().expect("seen").parser.screen())
    }

    /// Returns every byte that reached the terminal.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.seen.0.lock().expect("seen").bytes.clone()
    }

    /// Shows every frame that the terminal has received so far, as text, one after the other. The size has not changed.
    pub(crate) fn each_frame(&self, mut see: impl FnMut(&str)) {
        let (bytes, (rows, columns)) = (self.bytes(), self.look(Screen::size));
        let mut parser = Parser::new(rows, columns, 0);
        let mut from = 0;
        for end in memmem::find_iter(&bytes, FRAME[1]) {
            parser.process(&bytes[from..end]);
            from = end;
            see(&picture(parser.screen()));
        }
    }

    /// Types keys.
    #[track_caller]
    pub(crate) fn keys(&self, keys: &[u8]) {
        self.master.as_ref().expect("a terminal").write_all(keys).expect("typed");
    }

    /// The path of the terminal device as the program sees it.
    pub(crate) fn terminal(&self) -> PathBuf {
        let link = format!("/proc/self/fd/{}", self.slave.as_raw_fd());
        std::fs::read_link(link).expect("a file")
    }

    /// Resizes the terminal, as its window would.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.seen.0.lock().expect("seen").parser.screen_mut().set_size(cells(rows), cells(columns));
        tcsetwinsize(self.master.as_ref().expect("a terminal"), winsize(columns, rows)).expect("sized");
    }

    /// Closes the window: the program loses its terminal.
    pub(crate) fn hang_up(&mut self) {
        self.stop_reading();
        self.master = None;
    }

    /// The program and its guards.
    #[track_caller]
    pub(crate) fn family(&self) -> super::Family {
        super::Family::of(self.child.id())
    }

    /// Takes no more bytes, and waits until there is no room for any.
    #[track_caller]
    pub(crate) fn takes_nothing(&mut self) {
        self.stop_reading();
        super::wait_until("the terminal is full", || {
            let mut fds = [PollFd::new(&self.slave, PollFlags::OUT)];
            retry_on_intr(|| poll(&mut fds, Some(&Timespec::default()))).expect("polls") == 0
        });
    }

    /// Takes a few hundred bytes at a time from now on, at about the rate of a slow line.
    pub(crate) fn takes_slowly(&mut self) {
        self.stop_reading();
        let master = self.master.as_ref().expect("a terminal").try_clone().expect("a descriptor");
        self.reading = Some(read(master, Arc::clone(&self.seen), Some(SLOW)));
    }

    /// Takes bytes as they come.
    pub(crate) fn takes_all(&mut self) {
        self.stop_reading();
        let master = self.master.as_ref().expect("a terminal").try_clone().expect("a descriptor");
        self.reading = Some(read(master, Arc::clone(&self.seen), None));
    }

    /// The process that draws.
    pub(crate) fn program(&self) -> u32 {
        super::Family::find(self.child.id()).map_or(self.child.id(), |family| family.program)
    }

    /// Sends the program a signal.
    pub(crate) fn kill(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, signal).expect("sent");
    }

    /// Waits for the program to exit; returns its exit code, or 128 plus the signal number.
    #[track_caller]
    pub(crate) fn exit(&mut self) -> i32 {
        let mut status: Option<ExitStatus> = None;
        let (seen, child) = (&self.seen.0, &mut self.child);
        let shown = || picture(seen.lock().expect("seen").parser.screen());
        super::wait_until_or(
            || format!("the program ends; the screen shows:\n{}\n", shown()),
            || {
                status = child.try_wait().expect("asked");
                status.is_some()
            },
        );
        let status = status.expect("an end");
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).expect("a code")
    }

    /// Exits through the dialog that stops all tasks.
    #[track_caller]
    pub(crate) fn stop_all_and_quit(&mut self) {
        self.keys(b"q");
        self.shows("stop all and quit");
        self.keys(b"s");
        assert_eq!(self.exit(), 0);
    }

    /// Asserts that the program, having exited, has left the terminal as it found it.
    #[track_caller]
    pub(crate) fn is_as_it_was(&self) {
        // The program's last output may still be on its way here.
        self.wait_for("the normal screen", |screen| !screen.alternate_screen());
        self.is_as_it_was_in_lines();
        let seen = self.seen.0.lock().expect("seen");
        assert_eq!(modes_left_on(&seen.bytes), BTreeSet::from(["25".to_owned()]), "private modes");
    }

    /// Asserts that the program, having exited, has not changed the terminal's line settings.
    #[track_caller]
    pub(crate) fn is_as_it_was_in_lines(&self) {
        let after = tcgetattr(&self.slave).expect("a state");
        assert_eq!(format!("{after:?}"), format!("{:?}", self.before), "termios");
    }

    /// Takes no more bytes.
    pub(crate) fn stop_reading(&mut self) {
        if let Some((thread, wake)) = self.reading.take() {
            drop(wake);
            thread.join().expect("the reader ends");
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            // Kill the program, not its guards: they exit once nothing is left.
            let program = super::Family::find(self.child.id()).map(|family| family.program);
            super::send(program.unwrap_or(self.child.id()), Signal::KILL);
        }
        let _ = self.child.wait();
        self.stop_reading();
    }
}

/// The rows of a screen as text, without trailing blanks.
fn picture(screen: &Screen) -> String {
    let rows: Vec<String> = screen.rows(0, u16::MAX).map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n")
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a size")
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Reads the terminal until its other end is gone or the returned descriptor is closed.
fn read(
    mut master: File,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    slowly: Option<(Timespec, usize)>,
) -> (JoinHandle<()>, OwnedFd) {
    let (closed, wake) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let reading = std::thread::spawn(move || {
        let mut chunk = vec![0; slowly.map_or(65_536, |(_, size)| size)];
        let mut is_held = false;
        loop {
            let mut fds = [PollFd::new(&master, PollFlags::IN), PollFd::new(&closed, PollFlags::empty())];
            // Children of other tests are also children of this process, and SIGCHLD may arrive on any thread.
            let ready = retry_on_intr(|| poll(&mut fds, is_held.then_some(&HOLD))).expect("polls");
            if !fds[1].revents().is_empty() {
                return;
            }
            let count = match ready {
                0 => 0,
                _ => match master.read(&mut chunk) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Ok(count @ 1..) => count,
                    _ => return,
                },
            };
            is_held = seen.0.lock().expect("seen").take(&chunk[..count]);
            seen.1.notify_all();
            if let Some((pause, _)) = &slowly {
                let mut fds = [PollFd::new(&closed, PollFlags::empty())];
                retry_on_intr(|| poll(&mut fds, Some(pause))).expect("polls");
            }
        }
    });
    (reading, wake)
}

/// The private modes (`ESC [ ? n h`) that were set and not reset again.
fn modes_left_on(bytes: &[u8]) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    for sequence in bytes.split(|byte| *byte == 0x1b) {
        let Some(rest) = sequence.strip_prefix(b"[?") else { continue };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        let (numbers, end) = rest.split_at(digits);
        for mode in String::from_utf8_lossy(numbers).split(';') {
            match end.first() {
                Some(b'h') => drop(on.insert(mode.to_owned())),
                Some(b'l') => drop(on.remove(mode)),
                _ => {}
            }
        }
    }
    on
}
