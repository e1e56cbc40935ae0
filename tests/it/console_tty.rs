//! The real console in a real terminal: what a person sees, what they type, and how the terminal is restored at the end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use pilothouse::console::io::output::BufferedSink;
use pilothouse::console::io::tty;
use pilothouse::terminal::{ByteOrigin, Size, Terminal};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::support::{Family, Home, program, send, wait_until};

/// A program in a terminal of its own, with a stand-in for the person in front of it.
struct Person {
    child: Child,
    /// `None` once the terminal has been taken away.
    master: Option<File>,
    /// Kept open so that the terminal's state can be read after the program has exited.
    slave: Option<File>,
    before: Termios,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    terminal: Terminal,
    /// The screen after the last complete frame.
    screen: String,
    bytes: Vec<u8>,
}

impl Person {
    /// Opens the program's console.
    fn at_console(home: &Home, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program());
        home.settle(&mut command);
        command.envs(variables.iter().copied());
        let person = Self::start(command);
        person.wait_for("the first frame", "OBSERVE");
        person
    }

    fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("unlocked");
        let path = ptsname(&master, Vec::new()).expect("a name").into_string().expect("UTF-8");
        // If the tests run as a session leader, opening it must not make it their own terminal: its hangup would kill them.
        let mut options = File::options();
        let slave = options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
        let slave = slave.expect("the terminal");
        let master = File::from(master);
        resize(&master, 80, 24);
        let before = tcgetattr(&slave).expect("its state");
        let stdio = || Stdio::from(slave.try_clone().expect("a copy"));
        let child =
            command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().expect("the program starts");
        let seen = Arc::new(Mutex::new(Seen {
            terminal: Terminal::new(Size::nearest(80, 24), ByteOrigin::Tty),
            screen: String::new(),
            bytes: Vec::new(),
        }));
        let (mut eyes, memory) = (master.try_clone().expect("a copy"), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = eyes.read(&mut buffer) {
                let mut seen = memory.lock().unwrap_or_else(PoisonError::into_inner);
                if !seen.terminal.feed(&buffer[..count]).hold_frames {
                    seen.screen = seen.terminal.screen_text();
                }
                seen.bytes.extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, master: Some(master), slave: Some(slave), before, seen }
    }

    fn screen(&self) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).screen.clone()
    }

    fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).bytes.clone()
    }

    #[track_caller]
    fn wait_for(&self, what: &str, text: &str) {
        let found = std::panic::catch_unwind(|| wait_until(what, || self.screen().contains(text)));
        assert!(found.is_ok(), "waited for {what} ({text:?}); on screen:\n{}", self.screen());
    }

    fn types(&mut self, keys: &str) {
        self.master.as_mut().expect("a terminal").write_all(keys.as_bytes()).expect("typed");
    }

    fn resizes(&self, columns: u16, rows: u16) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.terminal.resize(Size::nearest(columns, rows));
        resize(self.master.as_ref().expect("a terminal"), columns, rows);
    }

    fn signals(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("signalled");
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn end(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the program ends", || {
            status = self.child.try_wait().expect("its status");
            status.is_some()
        });
        status.expect("waited for")
    }

    /// Asserts that the terminal is as it was found: its modes, the screen, the cursor, the mouse.
    #[track_caller]
    fn assert_restored(&self) {
        let after = tcgetattr(self.slave.as_ref().expect("the terminal")).expect("its state");
        let modes = |t: &Termios| (t.input_modes, t.output_modes, t.local_modes, t.control_modes);
        assert_eq!(modes(&after), modes(&self.before));
        let read = || String::from_utf8_lossy(&self.bytes()).into_owned();
        // It may have been restored before, and taken again.
        wait_until("the screen is given back", || read().rfind("\x1b[?1049l") > read().rfind("\x1b[?1049h"));
        let text = read();
        for (on, off) in
            [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h"), ("\x1b[?1006h", "\x1b[?1006l")]
        {
            assert!(text.rfind(off) > text.rfind(on), "{off:?} comes last");
        }
        for off in ["\x1b[?2004l", "\x1b[?1004l", "\x1b[?1002l"] {
            assert!(text.contains(off), "{off:?}");
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let program = Family::find(self.child.id()).map(|family| family.program);
            send(program.unwrap_or(self.child.id()), Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn resize(master: &File, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master.as_fd(), size).expect("resized");
}

#[test]
fn a_command_is_started_typed_into_and_stopped_and_the_terminal_given_back() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[]);
    person.types("ostty -echo; printf rea%s dy; read a; echo got:$a; exec sleep 1000\r");
    person.wait_for("the task runs", "ready");
    person.wait_for("INPUT", "INPUT t01");
    person.types("hi\r");
    person.wait_for("the program's reaction", "got:hi");
    person.types("q\x1d");
    person.wait_for("the chord leaves", "OBSERVE");
    person.types("ss");
    person.wait_for("its end", "cancelled");
    person.types("q");
    assert_eq!(person.end().code(), Some(0));
    person.assert_restored();
    wait_until("the farewell", || person.screen().contains("Tasks: 1 cancelled."));
}

#[test]
fn the_task_takes_the_size_of_its_pane_and_follows_it() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[]);
    person.types("owhile :; do stty size; sleep 0.05; done\r");
    person.wait_for("the size of the pane", "20 80");
    person.resizes(100, 30);
    person.wait_for("the new size", "26 100");
}

#[test]
fn a_terminal_that_says_no_size_has_the_usual_one() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[("COLUMNS", "80"), ("LINES", "20")]);
    resize(person.master.as_ref().expect("a terminal"), 0, 0);
    person.types("oecho at-$((6*7))\r");
    person.wait_for("a frame of that size", "at-42");
    wait_until("the last of 20 rows", || {
        person.screen().lines().nth(19).is_some_and(|row| row.contains("INPUT") || row.contains("OBSERVE"))
    });
    person.types("\x1d");
    person.wait_for("it goes on", "OBSERVE");
}

#[test]
fn f28_every_signal_that_ends_the_console_gives_the_terminal_back() {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::HUP, 129),
        (Signal::USR1, 138),
        (Signal::ALARM, 142),
        (Signal::XCPU, 152),
    ] {
        let home = Home::new();
        let mut person = Person::at_console(&home, &[]);
        person.signals(signal);
        let status = person.end();
        assert_eq!((status.code(), status.signal()), (Some(code), None), "{signal:?}");
        person.assert_restored();
    }
}

#[test]
fn f28_a_signal_that_no_loop_hears_of_gives_the_terminal_back() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[]);
    person.signals(Signal::ABORT);
    assert_eq!(person.end().signal(), Some(6));
    person.assert_restored();
    wait_until("it says so", || person.screen().contains("pilothouse was aborted"));
}

#[test]
fn f29_a_window_that_calls_itself_larger_than_any_is_drawn_in_bounds() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[]);
    let told = home.workspace().join("size");
    person
        .types("otrap 'stty size > new; mv new size' WINCH; printf rea%s dy; while :; do sleep 0.05; done\r");
    // A change of size before the trap is set would be lost.
    person.wait_for("the task listens", "ready");
    person.wait_for("the task is there", "INPUT t01");
    let size = || -> Option<(u16, u16)> {
        let told = std::fs::read_to_string(&told).ok()?;
        let (rows, columns) = told.trim().split_once(' ')?;
        Some((columns.parse().ok()?, rows.parse().ok()?))
    };
    resize(person.master.as_ref().expect("a terminal"), u16::MAX, u16::MAX);
    wait_until("the pane has a size that a task may have", || {
        size()
            .is_some_and(|(columns, rows)| (200..=1_000).contains(&columns) && (200..=1_000).contains(&rows))
    });
    resize(person.master.as_ref().expect("a terminal"), 90, 24);
    wait_until("it follows the window again", || size() == Some((90, 20)));
    person.signals(Signal::TERM);
    assert_eq!(person.end().code(), Some(143));
    person.assert_restored();
}

#[test]
fn f28_a_stop_gives_the_terminal_back_and_continuing_takes_it_again() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[]);
    let holds = |person: &Person, part: &str| String::from_utf8_lossy(&person.bytes()).matches(part).count();
    // It can tell keys apart.
    person.types("\x1b[?0u\x1b[?62;22c");
    wait_until("keys are told apart", || holds(&person, "\x1b[>1u") == 1);
    person.signals(Signal::TSTP);
    wait_until("the terminal is given back", || holds(&person, "\x1b[?1049l") == 1);
    assert_eq!(holds(&person, "\x1b[<u"), 1, "and its keys");
    let stat = format!("/proc/{}/stat", person.child.id());
    wait_until("it stands still", || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T ")));
    person.signals(Signal::CONT);
    person.wait_for("the frame again", "OBSERVE");
    wait_until("keys are told apart again", || holds(&person, "\x1b[>1u") == 2);
    person.types("?");
    person.wait_for("help", "HELP");
    person.types("\x1b");
    person.wait_for("help closes", "OBSERVE");
    person.types("q");
    assert_eq!(person.end().code(), Some(0));
    person.assert_restored();
}

#[test]
fn f26_a_terminal_that_goes_away_ends_the_console_and_its_tasks() {
    let home = Home::new();
    home.configure("config.toml", "[console]\non_hangup = \"end\"\n");
    let mut person = Person::at_console(&home, &[]);
    let mark = home.workspace().join("alive");
    person.types(&format!("osh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000'\r", mark.display()));
    wait_until("the task runs", || mark.exists());
    let task = std::fs::read_to_string(&mark).expect("its pid");
    person.slave = None;
    // The reader thread holds another copy of the master, so dropping this one is no hangup yet: send the signal as well.
    rustix::process::kill_process(person.pid(), Signal::HUP).expect("signalled");
    person.master = None;
    assert_eq!(person.end().code(), Some(129));
    let proc = format!("/proc/{}", task.trim());
    wait_until("the task ends with it", || !std::path::Path::new(&proc).exists());
}

#[test]
fn a_console_without_colour_sends_no_colour_and_shows_the_mode_in_reverse() {
    let home = Home::new();
    let mut person = Person::at_console(&home, &[("NO_COLOR", "1")]);
    person.types("q");
    person.end();
    let bytes = person.bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("38;5;") && !text.contains("48;5;"), "no colour: {text:?}");
    assert!(!text.contains("\x1b[m"), "no empty SGR: {text:?}");
    assert!(text.contains("\x1b[7m"), "reverse: {text:?}");
}

#[test]
fn f27_a_panic_on_any_thread_gives_the_terminal_back() {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([
        "--exact",
        "console_tty::a_console_takes_the_terminal_and_panics",
        "--ignored",
        "--nocapture",
    ]);
    let mut person = Person::start(command);
    let status = person.end();
    assert_eq!(status.signal(), Some(6), "aborted: {status:?}");
    person.assert_restored();
    assert!(String::from_utf8_lossy(&person.bytes()).contains("\x1b[<u"), "its keys are as they were");
    wait_until("the report", || String::from_utf8_lossy(&person.bytes()).contains("it broke"));
    let text = String::from_utf8_lossy(&person.bytes()).into_owned();
    assert!(text.rfind("it broke") > text.rfind("\x1b[?1049l"), "the report stands on the normal screen");
}

#[test]
fn memory_that_has_run_out_gives_the_terminal_back() {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([
        "--exact",
        "console_tty::a_console_takes_the_terminal_and_all_memory",
        "--ignored",
        "--nocapture",
    ]);
    let mut person = Person::start(command);
    assert_eq!(person.end().signal(), Some(6));
    person.assert_restored();
    wait_until("it says so", || person.screen().contains("no memory was left"));
}

/// Takes the terminal over, as the console does; the terminal is watched as long as the result exists.
fn takes_the_terminal() -> (tokio::runtime::Runtime, BufferedSink) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let inside = runtime.enter();
    let mut output = BufferedSink::new(tty::open().expect("a terminal")).expect("watched");
    tty::take(&mut output, pilothouse::config::Mouse::Full).expect("taken");
    drop(inside);
    (runtime, output)
}

/// Run by the test above, in a terminal of its own.
#[test]
#[ignore = "ends its process; run by another test"]
fn a_console_takes_the_terminal_and_all_memory() {
    let _inside = takes_the_terminal();
    std::hint::black_box(Vec::<u8>::with_capacity(1 << 62));
}

/// Run by the test above it, in a terminal of its own.
#[test]
#[ignore = "ends its process; run by another test"]
fn a_console_takes_the_terminal_and_panics() {
    let (_runtime, mut output) = takes_the_terminal();
    tty::distinct_keys(&mut output).expect("a terminal");
    let broken = std::thread::spawn(|| panic!("it broke"));
    let _ = broken.join();
}
