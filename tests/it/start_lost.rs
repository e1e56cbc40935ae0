//! Task hosts that are lost after the word to start a command and before their report. Whether the command had begun
//! cannot be known then: every door says that, with the output so far, and nothing of it runs again.

use std::path::Path;
use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::codex_executor::{Codex, text};
use crate::shell_door::Door;
use crate::support::{Agent, skip};

/// A library for the hosts of a runtime. A host that finds the file HOLD takes it and never sends the report that it was
/// about to send: right before, it makes its socket non-blocking. No test depends on who is faster then.
const HOLDING: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>
int ioctl(int fd, unsigned long request, ...) {
  int (*real)(int, unsigned long, void *) = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  if (request == FIONBIO && *(int *)argument == 1 && strcmp(name, "pilothouse-host") == 0 && unlink(HOLD) == 0)
    for (;;) pause();
  return real(fd, request, argument);
}
"#;

/// What is told in any case.
const KNOWN: &str = "he task host was lost; whether this command had begun cannot be known";

/// A runtime whose hosts can be kept from reporting a start.
struct Holding {
    door: Door,
    served: Child,
}

impl Holding {
    /// `None`, after saying so, where no such library can be made.
    fn new() -> Option<Self> {
        let door = Door::new();
        let library = door.home.workspace().join("../holding.so");
        let source = library.with_extension("c");
        std::fs::write(&source, HOLDING).expect("written");
        let hold = format!("-DHOLD=\"{}\"", door.home.workspace().join("hold").display());
        let mut compiler = Command::new("cc");
        let compiled =
            compiler.args(["-shared", "-fPIC", &hold, "-o"]).args([&library, &source]).arg("-ldl").output();
        match compiled {
            Ok(output) if output.status.success() => {}
            Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                skip(&format!("no C compiler: {error}"));
                return None;
            }
        }
        let served = door.home.serve_with(&[("LD_PRELOAD", library.as_os_str())]);
        Some(Self { door, served })
    }

    /// Keeps the host of the next command from reporting its start.
    fn hold(&self) {
        std::fs::write(self.path("hold"), "").expect("written");
        let _ = std::fs::remove_file(self.path("n"));
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.door.home.workspace().join(name)
    }

    /// How often the command has run.
    fn runs(&self) -> usize {
        count(&self.path("n"))
    }

    fn over(mut self) {
        self.door.home.stop(&mut self.served);
    }
}

fn count(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// A command that notes that it runs, and sends its host a signal once that is about to report. Without its host, it does
/// not end by itself.
fn command(signal: &str) -> String {
    let rest = if signal == "KILL" { "sleep 600" } else { "true" };
    format!(
        "echo begun; echo x >> n; while [ -e hold ]; do sleep 0.01; done; kill -{signal} $PPID; {rest}; echo end"
    )
}

/// The lost start as an agent reads it.
fn is_told(receipt: &str) {
    assert!(receipt.contains(&format!("T{KNOWN}.")), "{receipt}");
    assert!(receipt.contains("kind=start_unknown retryable=false") && receipt.contains("begun"), "{receipt}");
    assert!(!receipt.contains("omit `shell`"), "{receipt}");
}

#[test]
fn f54_an_agent_is_told_that_the_start_is_unknown_with_the_output_so_far() {
    let Some(holding) = Holding::new() else { return };
    let agent = Agent::connect(&holding.door.home, &[]);
    for promoted in [30_000, 0] {
        holding.hold();
        let ran = agent.call("ExecCommand", &json!({"cmd": command("KILL"), "yield_time_ms": promoted}));
        is_told(&ran.receipt);
        let error = &ran.envelope["error"];
        assert_eq!((&error["retryable"], &error["details"]["output"]), (&json!(false), &json!("begun\n")));
        let status =
            agent.call("TaskOutput", &json!({"task_id": error["details"]["task_id"], "lines": "1-"}));
        assert!(status.receipt.contains("1: begun"), "{}", status.receipt);
        assert_eq!(holding.runs(), 1);
    }
    agent.leave();
    holding.over();
}

#[test]
fn f54_a_batch_and_a_script_are_told_that_the_start_is_unknown() {
    let Some(holding) = Holding::new() else { return };
    let agent = Agent::connect(&holding.door.home, &[]);
    holding.hold();
    let items = json!({"items": [{"cmd": command("KILL")}, {"cmd": "echo after"}]});
    let ran = agent.call("ExecCommandBatch", &items);
    let [item, after] = [ran.result("/items/0"), ran.result("/items/1")];
    let error = json!({"kind": "start_unknown", "message": format!("t{KNOWN}"), "retryable": false});
    assert_eq!(
        (&item["status"], &item["error"], &item["stdout_preview"]),
        (&json!("failed"), &error, &json!("begun\n"))
    );
    assert_eq!((&after["status"], holding.runs()), (&json!("completed"), 1));
    agent.leave();

    holding.hold();
    let ran = holding.door.home.run(&["command", "run", "--output", "json", &command("KILL")]);
    let said: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(ran.status.code(), Some(75), "{said}");
    let error = &said["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("START_UNKNOWN"), &json!(false)), "{said}");
    assert_eq!((&error["side_effects"], &error["phase"]), (&json!("partial"), &json!("execution")));
    assert_eq!((&error["context"]["output"], holding.runs()), (&json!("begun\n"), 1));
    holding.over();
}

#[test]
fn f54_an_agents_own_shell_ends_with_75_and_runs_nothing_plainly() {
    let Some(holding) = Holding::new() else { return };
    holding.hold();
    let ran = holding.door.of_claude("one", &command("KILL")).output().expect("runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), said), (Some(75), format!("pilothouse: t{KNOWN}\n")));
    assert_eq!((ran.stdout.as_slice(), holding.runs()), (&b"begun\n"[..], 1));
    holding.over();
}

#[test]
fn f54_codex_is_told_that_the_start_is_unknown_and_its_server_does_not_run_the_command() {
    let Some(holding) = Holding::new() else { return };
    let mut codex = Codex::new(&holding.door.home);
    holding.hold();
    codex.start("a", &command("KILL"), &json!({}));
    let told = codex.until("a", |told| told.is_closed);
    assert_eq!(
        (text(&told, "stdout"), text(&told, "stderr")),
        ("begun\n".into(), format!("pilothouse: t{KNOWN}\n"))
    );
    assert_eq!((told.exit, holding.runs()), (Some(75), 1));
    codex.leave();
    holding.over();
}

#[test]
fn f54_a_program_ends_on_an_unknown_start_whatever_its_on_fail_and_a_resumed_run_asks() {
    let Some(holding) = Holding::new() else { return };
    let home = &holding.door.home;
    let program =
        format!("exec \"{}\"\n  on-fail: \"continue\"\nexec \"echo after >> n\"\n", command("KILL"));
    std::fs::write(holding.path("p.prose"), program).expect("written");
    holding.hold();
    let ran = home.run(&["run", "--plain", "p.prose"]);
    let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains(KNOWN) && said.contains("begun"), "{said}");
    assert_eq!(holding.runs(), 1, "nothing ran again, and nothing after it");
    let after = said.rsplit_once("--resume ").expect("how to go on").1;
    let run = after.split_whitespace().next().expect("a run");
    // What may have run is no known failure, which a flag would run again.
    for more in [&[][..], &["--rerun"]] {
        let resumed = home.run(&[&["run", "--plain", "p.prose", "--resume", run][..], more].concat());
        assert_eq!(resumed.status.code(), Some(3), "{resumed:?}");
        assert_eq!(holding.runs(), 1);
    }
    holding.over();
}

#[test]
fn f55_a_host_that_is_stopped_before_its_report_is_the_same_to_every_door() {
    let Some(holding) = Holding::new() else { return };
    let agent = Agent::connect(&holding.door.home, &[]);
    holding.hold();
    let ran = agent.call("ExecCommand", &json!({"cmd": command("STOP"), "yield_time_ms": 30_000}));
    // It went on meanwhile.
    is_told(&ran.receipt);
    assert_eq!(holding.runs(), 1);
    agent.leave();
    holding.hold();
    let ran = holding.door.of_claude("one", &command("STOP")).output().expect("runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), said), (Some(75), format!("pilothouse: t{KNOWN}\n")));
    assert_eq!((ran.stdout.as_slice(), holding.runs()), (&b"begun\nend\n"[..], 1));
    holding.over();
}
