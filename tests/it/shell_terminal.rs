//! An agent that calls its shell on a terminal that it has made for the call: it reads and types the same bytes as without
//! us, and a person sees the command and types into it, too.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, OutputModes, tcgetattr};

use crate::shell_door::Door;
use crate::support::{Console, Tag, wait_until, wait_until_or};

const SIZE: (u16, u16) = (91, 27);

/// A call as Gemini CLI makes it in its screen.
fn call(door: &Door, by_us: bool, script: &str) -> Command {
    let mut call = door.call(by_us, script);
    call.env("GEMINI_CLI", "1").env("TERM", "xterm-256color").env_remove("LC_ALL");
    call
}

fn begin(door: &Door, by_us: bool, script: &str) -> Console {
    Console::of(&call(door, by_us, script), SIZE)
}

fn text(terminal: &Console) -> String {
    String::from_utf8_lossy(&terminal.bytes()).into_owned()
}

/// Waits until a command has written this.
#[track_caller]
fn writes(terminal: &Console, what: &str) {
    wait_until_or(|| format!("{what} in {}", text(terminal)), || text(terminal).contains(what));
}

/// Whether the caller's terminal passes bytes on as they are.
fn is_raw(terminal: &Console) -> bool {
    let modes = tcgetattr(File::open(terminal.terminal()).expect("opens")).expect("modes");
    !modes.local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
        && !modes.output_modes.contains(OutputModes::OPOST)
}

/// Scripts, and what is typed once they have written "ready".
const SCRIPTS: [(&str, &[u8]); 32] = [
    ("exit 3", b""),
    ("echo out; echo err >&2; echo out again", b""),
    ("stty size; tput cols; tput lines", b""),
    ("stty -a; stty -g", b""),
    ("for fd in 0 1 2; do [ -t $fd ]; echo $?; done; tty | tr -d 0-9", b""),
    (
        "read -r _ _ _ _ group session _ front _ < /proc/$$/stat; echo $(($$ - group)) $(($$ - session)) $(($$ - front))",
        b"",
    ),
    (
        "ls -l /proc/self/fd | grep -c pts; echo there > /dev/tty; [ /dev/stdin -ef /proc/self/fd/2 ]; echo $?",
        b"",
    ),
    ("printf 'a\\nb\\tc\\r\\n\\007'", b""),
    ("stty -onlcr tab3; printf 'a\\tb\\n'; stty sane; printf 'a\\nb\\n'", b""),
    ("printf 'h\\303'; printf '\\251 \\360\\237'; printf '\\230\\200 \\377\\n'", b""),
    ("LC_ALL=C awk 'BEGIN { for (i = 0; i < 256; i++) printf \"%c\", i }'", b""),
    ("head -c 1000000 /dev/zero | tr '\\0' x; echo end", b""),
    ("seq 20000", b""),
    ("printf '\\033[31mred\\033[0m \\033[6n\\033[c'; echo", b""),
    ("ls --color=auto -d /; grep --color=auto r /etc/hostname /proc/version | head -c 300", b""),
    ("kill -TERM $$", b""),
    ("echo a; kill -9 $$", b""),
    ("ulimit -c 0; kill -SEGV $$", b""),
    ("nosuchcommand", b""),
    ("if then", b""),
    ("bash -c 'echo nested $0; exit 4'", b""),
    ("env | grep -v '^PILOTHOUSE_\\|^_=' | sort; trap -p; umask; ulimit -n", b""),
    ("(sleep 300 &) ; echo the shell ends and takes what it left along", b""),
    ("echo ready; read -r line; echo \"got $line\"", b"hello w\x7forld\r"),
    ("echo ready; cat; echo eof $?", b"one\ntwo\nthr\x04ee\n\x04"),
    ("stty -echo; echo ready; read -r secret; stty echo; echo \"<$secret>\"", b"open sesame\n"),
    ("stty -echo -icanon min 1; echo ready; head -c 5 | od -c", b"a\r\x04\x03z"),
    ("trap 'echo int; exit 5' INT; echo ready; while :; do sleep 0.02; done", b"\x03"),
    ("ulimit -c 0; echo ready; sleep 300", b"\x03"),
    ("ulimit -c 0; exec awk 'BEGIN { print \"ready\"; fflush(); getline }'", b"\x1c"),
    ("echo ready; sleep 300; echo $?; read -r line; echo $line", b"\x1a\x13\x11early\x15late\r\x03"),
    (
        "stty intr ^G; trap 'echo by another key; exit 6' INT; echo ready; while :; do sleep 0.02; done",
        b"\x03\x07",
    ),
];

#[test]
fn every_byte_both_ways_and_every_end_is_what_it_would_be_without_us() {
    let (door, mut served) = Door::served();
    for (script, typed) in SCRIPTS {
        let run = |by_us| {
            let mut terminal = begin(&door, by_us, script);
            if !typed.is_empty() {
                writes(&terminal, "ready\r\n");
                terminal.keys(typed);
            }
            let code = terminal.exit();
            (code, terminal)
        };
        let (plain, ours) = (run(false), run(true));
        assert_eq!(plain.0, ours.0, "{script}: {}", text(&ours.1));
        // The last bytes may still be on their way to the one who reads.
        let difference = || format!("{script}\n{:?}\n{:?}", short(&plain.1), short(&ours.1));
        wait_until_or(difference, || plain.1.bytes() == ours.1.bytes());
    }
    let listed = door.json(&["task", "list", "--scope", "all"]);
    assert_eq!(listed["data"]["total"], SCRIPTS.len(), "each was a task: {listed}");
    door.home.stop(&mut served);
}

fn short(terminal: &Console) -> String {
    text(terminal).chars().take(600).collect()
}

#[test]
fn the_terminal_is_raw_while_the_command_runs_and_as_it_was_however_that_ends() {
    let (door, mut served) = Door::served();
    let ready = || {
        // A bash loses a signal that arrives while it executes what is trapped for it.
        let script = "trap n=1 WINCH; echo ready; while :; do [ $n ] && { n=; stty size; }; sleep 0.02; done";
        let terminal = begin(&door, true, script);
        writes(&terminal, "ready\r\n");
        assert!(is_raw(&terminal));
        terminal
    };
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::KILL, 137)] {
        let mut terminal = ready();
        terminal.kill(signal);
        assert_eq!(terminal.exit(), code);
        wait_until("the terminal is as it was", || !is_raw(&terminal));
        terminal.is_as_it_was_in_lines();
    }
    let mut resized = ready();
    resized.resize(120, 41);
    writes(&resized, "41 120\r\n");
    resized.resize(20, 5);
    writes(&resized, "5 20\r\n");
    let mut lost = ready();
    door.home.stop(&mut served);
    assert_eq!((lost.exit(), resized.exit()), (75, 75));
    writes(&lost, "this command had begun");
    assert!(text(&lost).ends_with("\r\n"), "{}", text(&lost));
    lost.is_as_it_was_in_lines();
}

#[test]
fn closing_the_terminal_or_killing_the_shell_of_an_agent_ends_its_command() {
    let (door, mut served) = Door::served();
    let file = |name: &str| door.home.workspace().join(name);
    // The agent closes its terminal.
    let mut closed =
        begin(&door, true, "trap 'echo hup > hup; exit' HUP; echo ready; while :; do sleep 0.02; done");
    writes(&closed, "ready\r\n");
    closed.hang_up();
    wait_until("the command is hung up", || file("hup").exists());
    closed.exit();
    // The agent is killed.
    let tag = Tag::new();
    let mut killed = begin(&door, true, &format!("trap '' HUP TERM INT; echo ready; sleep {}", tag.0));
    writes(&killed, "ready\r\n");
    killed.kill(Signal::KILL);
    assert_eq!(killed.exit(), 137);
    wait_until("the command is gone", || tag.holders().is_empty());
    door.home.stop(&mut served);
}

/// Only its own command waits. Polling the unread terminal would not show that: the kernel moves what it has taken to
/// another buffer, and then says that there is room, without waking whoever writes.
#[test]
fn an_agent_that_does_not_read_holds_up_its_own_command_alone() {
    let (door, mut served) = Door::served();
    let mut unread = begin(&door, true, "echo ready; yes; echo never");
    writes(&unread, "ready\r\n");
    unread.stop_reading();
    wait_until("its command is held up", || {
        let listed = door.json(&["task", "list", "--scope", "all"]);
        let tasks = listed["data"]["tasks"].as_array().cloned().unwrap_or_default();
        let own = tasks.iter().find(|task| task["cmd"].as_str().is_some_and(|cmd| cmd.contains("yes")));
        own.is_some_and(|task| task["status"] == "running" && task["quiet_ms"].as_u64() > Some(500))
    });
    let mut other = begin(&door, true, "seq 3");
    assert_eq!(other.exit(), 0);
    unread.takes_all();
    unread.keys(b"\x03");
    assert_eq!(unread.exit(), 130);
    unread.is_as_it_was_in_lines();
    door.home.stop(&mut served);
}

#[test]
fn a_person_sees_the_command_live_and_answers_it_and_so_does_the_agent() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (100, 30));
    console.shows("no agent yet");
    let mut terminal = begin(
        &door,
        true,
        "read -rsp 'Passphrase: ' one; echo; read -rp 'And who? ' two; echo \"${#one} $two\"; stty size",
    );
    writes(&terminal, "Passphrase: ");
    console.shows("waiting for a password");
    console.keys(b"\r");
    console.shows(" INPUT t01");
    console.keys(b"tumbleweed\r");
    writes(&terminal, "And who? ");
    terminal.keys(b"me\r");
    assert_eq!(terminal.exit(), 0);
    writes(&terminal, "10 me\r\n27 91\r\n");
    assert!(!text(&terminal).contains("tumbleweed"));
    console.shows("10 me");
    assert!(!door.record().contains("tumbleweed"));
}

#[test]
fn a_held_command_begins_on_the_terminal_as_that_is_then_with_what_was_typed_meanwhile() {
    let door = Door::new();
    door.home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\n");
    let console = Console::open(&door.home, &[], (100, 30));
    console.shows("no agent yet");
    let mut terminal = begin(&door, true, "touch ran; stty size; read -r line; echo \"got $line\"");
    console.shows("needs approval");
    terminal.keys(b"typed early\r");
    writes(&terminal, "typed early\r\n");
    terminal.resize(70, 20);
    console.keys(b"A");
    console.shows("wants to run a command");
    wait_until("it is let go", || {
        console.keys(b"y");
        door.home.workspace().join("ran").exists()
    });
    assert_eq!(terminal.exit(), 0);
    writes(&terminal, "got typed early\r\n");
    assert_eq!(text(&terminal), "typed early\r\n20 70\r\ngot typed early\r\n");
}

#[test]
fn only_a_call_with_its_own_terminal_as_all_its_streams_becomes_a_task() {
    let (door, mut served) = Door::served();
    let tasks = || door.json(&["task", "list", "--scope", "all"])["data"]["total"].as_u64();
    // A person's, on which a program of theirs calls a shell.
    let mut person = call(&door, false, "\"$0\" -c 'echo through; [ -t 1 ]; exit $?'; exit $?");
    person.arg(&door.shell);
    let mut shared = Console::of(&person, SIZE);
    assert_eq!(shared.exit(), 0);
    writes(&shared, "through\r\n");
    // Without an agent.
    let mut nobody = call(&door, true, "echo through");
    nobody.env_remove("GEMINI_CLI");
    let mut nobody = Console::of(&nobody, SIZE);
    assert_eq!(nobody.exit(), 0);
    assert_eq!((tasks(), text(&nobody).as_str()), (Some(0), "through\r\n"));
    // Only its input and its error are the terminal: it says that it is not shown, and leaves a mark.
    let terminal = own_terminal();
    let mut partly = Command::new("setsid");
    let own = call(&door, true, "[ -t 0 ] && [ -t 2 ] && echo plainly");
    partly.arg("--ctty").arg(own.get_program()).args(own.get_args());
    partly.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    partly.current_dir(door.home.workspace()).env_remove("PILOTHOUSE_TASK_KIND");
    let stream = || Stdio::from(terminal.1.try_clone().expect("a descriptor"));
    partly.stdin(stream()).stdout(Stdio::piped()).stderr(stream());
    let output = partly.spawn().expect("starts").wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "plainly\n");
    let mut said = [0; 500];
    let length = rustix::io::read(&terminal.0, &mut said).expect("a line");
    let said = String::from_utf8_lossy(&said[..length]);
    assert!(said.contains("not all its standard streams are its terminal"), "{said}");
    assert_eq!(tasks(), Some(0));
    door.home.stop(&mut served);
}

/// Both sides of a terminal.
fn own_terminal() -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let slave = ioctl_tiocgptpeer(&master, flags).expect("its other side");
    (master, slave)
}
