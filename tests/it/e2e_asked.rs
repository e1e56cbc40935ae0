//! What real programs ask on the terminal beside an agent's own command: answered in the console, in no answer and
//! in no record; and where nobody could answer, everything is as without Pilothouse.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use crate::e2e_fleet::go_to;
use crate::shell_door::Door;
use crate::support::{Console, skip, wait_until};

const SECRET: &str = "Vx7-tumbleweed-41";

/// One program that asks.
struct Case {
    /// The programs that must be installed.
    needs: &'static [&'static str],
    /// The command, run in a workspace set up by `prepare`.
    script: String,
    prepare: fn(&Path),
    /// Each prompt, and the answer to it.
    dialogue: Vec<(&'static str, &'static str)>,
    /// What it prints afterwards.
    prints: &'static str,
}

fn nothing(_: &Path) {}

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

impl Case {
    fn can_run(&self) -> bool {
        match self.needs.iter().find(|program| installed(program).is_none()) {
            Some(missing) => {
                skip(missing);
                false
            }
            None => true,
        }
    }

    /// Runs it with a console that answers, as the task of this number; afterwards no output, answer or file contains
    /// the secret.
    fn is_answered(&self, (door, console): (&Door, &Console), number: usize) {
        let name = format!("t{number:02}");
        (self.prepare)(&door.home.workspace());
        let mut call = door.of_claude("one", &self.script);
        call.stdin(Stdio::null());
        let running = thread::spawn(move || call.output().expect("runs"));
        let waits = || tasks(door)["data"]["tasks"][0]["waiting"].is_object();
        for (at, (prompt, answer)) in self.dialogue.iter().enumerate() {
            if at == 0 {
                wait_until("it asks", || door.commands().len() == number && waits());
                console.shows("asks for");
                go_to(console, &name);
                console.shows(prompt);
                console.keys(b"\r");
                console.shows(&format!(" INPUT {name}"));
            } else {
                console.shows(prompt);
                // Some programs, openssl for one, turn the echo off only after they have printed a further prompt.
                wait_until("it reads the answer", waits);
            }
            console.keys(format!("{answer}\r").as_bytes());
        }
        let output = running.join().expect("ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains(self.prints), "{output:?}\n{}", console.text());
        console.shows(&format!("{name} has ended"));
        self.is_nowhere((door, console), number, &output);
        if !console.text().contains(" OBSERVE ") {
            console.keys(b"\x1d");
        }
        console.shows(" OBSERVE ");
    }

    fn is_nowhere(&self, (door, console): (&Door, &Console), number: usize, output: &Output) {
        let id = tasks(door)["data"]["tasks"][0]["task_id"].as_str().expect("a task").to_owned();
        let mut places = vec![
            ("stdout".to_owned(), output.stdout.clone()),
            ("stderr".to_owned(), output.stderr.clone()),
            ("the console".to_owned(), console.bytes()),
        ];
        for args in [
            &["task", "output", &id][..],
            &["task", "export", &id, "--as", "cast"],
            &["task", "export", &id, "--as", "text"],
            &["receipt", "list"],
            &["receipt", "show", &number.to_string()],
        ] {
            places.push((args.join(" "), door.home.run(args).stdout));
        }
        let mut open = vec![door.home.workspace().join("..")];
        while let Some(path) = open.pop() {
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                open.extend(path.read_dir().expect("lists").flatten().map(|entry| entry.path()));
            } else if let Ok(bytes) = std::fs::read(&path) {
                places.push((path.display().to_string(), bytes));
            }
        }
        assert!(places.iter().any(|(name, _)| name.ends_with("output.log")), "the log is among them");
        for form in forms(SECRET) {
            let holds = |bytes: &[u8]| memchr::memmem::find(bytes, form.as_bytes()).is_some();
            let found: Vec<_> =
                places.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect();
            assert!(found.is_empty(), "{form} in {found:?}");
        }
    }

    /// Runs it where nobody could answer, through Pilothouse and through the shell alone.
    fn is_as_without_us(&self) {
        if !self.can_run() {
            return;
        }
        let (door, _served) = Door::served();
        let seen = [true, false].map(|by_us| {
            (self.prepare)(&door.home.workspace());
            let call =
                if by_us { door.of_claude("one", &self.script) } else { door.call(false, &self.script) };
            // In a session of its own, as agents start commands: without a terminal to ask on.
            let mut alone = Command::new("setsid");
            alone.arg("-w").arg(call.get_program()).args(call.get_args()).env_clear();
            alone.envs(call.get_envs().filter_map(|(name, value)| Some((name, value?))));
            alone.envs(std::env::vars_os().filter(|(name, _)| {
                call.get_envs().all(|(own, _)| own != name)
                    && !name.to_string_lossy().starts_with("PILOTHOUSE")
            }));
            alone.current_dir(call.get_current_dir().expect("a directory")).stdin(Stdio::null());
            let output = alone.output().expect("runs");
            (output.status, String::from_utf8_lossy(&output.stdout).into_owned(), text(&output.stderr))
        });
        assert_eq!(seen[0], seen[1], "{}", self.script);
        assert_eq!(door.commands().len(), 1, "it was a task");
    }
}

fn tasks(door: &Door) -> Value {
    door.json(&["task", "list", "--scope", "all"])
}

/// Returns the text without the addresses that openssl prints before its errors.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .map(|line| line.split_once(":error:").map_or(line, |(_, error)| error))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The forms in which a secret could be hidden.
fn forms(secret: &str) -> Vec<String> {
    let hex = secret.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let mut forms = vec![secret.to_owned(), secret.chars().rev().collect(), hex.to_uppercase(), hex];
    // In base64, at each of the three byte offsets: without the characters that depend on neighbouring bytes.
    for before in ["", "x", "xx"] {
        let all = base64(format!("{before}{secret}").as_bytes());
        let (skip, whole) = (before.len() * 2, all.trim_end_matches('=').len() - 2);
        forms.push(all[skip..whole].to_owned());
    }
    forms
}

fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

fn read() -> Case {
    Case {
        needs: &["bash"],
        script: "printf 'Password: ' >/dev/tty; read -rs p </dev/tty && echo \"length ${#p}\"".into(),
        prepare: nothing,
        dialogue: vec![("» Password:", SECRET)],
        prints: "length 17",
    }
}

fn getpass() -> Case {
    Case {
        needs: &["python3"],
        script: "python3 -W ignore -c 'import getpass; print(\"length\", len(getpass.getpass(\"Token: \")))'"
            .into(),
        prepare: nothing,
        dialogue: vec![("» Token:", SECRET)],
        prints: "length 17",
    }
}

fn openssl() -> Case {
    Case {
        needs: &["openssl"],
        script: "openssl enc -aes-256-cbc -pbkdf2 -in plain -out sealed && rm sealed && echo sealed".into(),
        prepare: |workspace| std::fs::write(workspace.join("plain"), "text").expect("written"),
        dialogue: vec![("» enter AES-256-CBC encryption", SECRET), ("» Verifying", SECRET)],
        prints: "sealed",
    }
}

fn passwd() -> Case {
    Case {
        needs: &["openssl"],
        script: "openssl passwd -6 >hash && wc -l <hash".into(),
        prepare: nothing,
        dialogue: vec![("» Password:", SECRET), ("» Verifying", SECRET)],
        prints: "1",
    }
}

fn ssh_keygen() -> Case {
    Case {
        needs: &["ssh-keygen"],
        script: "ssh-keygen -p -f key".into(),
        prepare: |workspace| {
            let _ = std::fs::remove_file(workspace.join("key"));
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "first-one", "-C", "", "-f", "key"])
                .current_dir(workspace);
            assert!(make.status().expect("ssh-keygen").success());
        },
        dialogue: vec![
            ("» Enter old passphrase:", "first-one"),
            ("» Enter new passphrase", SECRET),
            ("» Enter same passphrase again:", SECRET),
        ],
        prints: "Your identification has been saved with the new passphrase.",
    }
}

fn gpg() -> Case {
    Case {
        needs: &["gpg", "gpgconf", "pinentry-tty"],
        script: "export GNUPGHOME=$PWD/gnupg; \
                 gpg -q -o sealed -c plain 2>said; code=$?; gpgconf --kill gpg-agent; grep -v agent said >&2; \
                 rm -f sealed; test $code = 0 && echo sealed"
            .into(),
        prepare: |workspace| {
            use std::os::unix::fs::PermissionsExt as _;
            let home = workspace.join("gnupg");
            std::fs::create_dir_all(&home).expect("a folder");
            std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700)).expect("private");
            let pinentry = installed("pinentry-tty").expect("installed");
            let agent = format!("pinentry-program {}\nallow-loopback-pinentry\n", pinentry.display());
            std::fs::write(home.join("gpg-agent.conf"), agent).expect("written");
            std::fs::write(workspace.join("plain"), "text").expect("written");
        },
        dialogue: vec![("» Passphrase:", SECRET), ("» Repeat:", SECRET)],
        prints: "sealed",
    }
}

/// Asks every request for a user name and password; returns its address, and the first credentials it received.
fn server() -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let serving = thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
            let head: Vec<String> =
                lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let given = head.iter().find_map(|line| line.strip_prefix("Authorization: Basic "));
            let status = if given.is_some() {
                "404 Not Found"
            } else {
                "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"here\""
            };
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if let Some(given) = given {
                return given.to_owned();
            }
        }
    });
    (address, serving)
}

/// A request of git's to a server, and what that is given; `None` if there is no git for it.
fn git() -> Option<(Case, thread::JoinHandle<String>)> {
    if installed("git").is_none() || Command::new("git").args(["help", "-g"]).output().is_err() {
        skip("git");
        return None;
    }
    let (address, serving) = server();
    let case = Case {
        needs: &["git"],
        script: format!("git -c credential.helper= ls-remote http://{address}/x.git 2>&1; echo asked"),
        prepare: nothing,
        dialogue: vec![("» Username for", "me"), ("» Password for", SECRET)],
        prints: "asked",
    };
    Some((case, serving))
}

#[test]
fn the_prompts_of_real_programs_are_answered_in_the_console_and_the_answers_are_nowhere_else() {
    let door = Door::new();
    let console = Console::open(&door.home, &[], (80, 24));
    console.shows("no agent yet");
    let (git, serving) = git().unzip();
    let local = [read(), getpass(), openssl(), passwd(), ssh_keygen(), gpg()];
    let can_run = local.into_iter().filter(Case::can_run).chain(git);
    can_run.zip(1..).for_each(|(case, number)| case.is_answered((&door, &console), number));
    if let Some(serving) = serving {
        assert_eq!(serving.join().expect("served"), base64(format!("me:{SECRET}").as_bytes()));
    }
}

#[test]
fn programs_ask_as_without_pilothouse_where_nobody_could_answer() {
    for case in [read(), getpass(), openssl(), passwd(), ssh_keygen(), gpg()] {
        case.is_as_without_us();
    }
}
