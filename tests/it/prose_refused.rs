//! Programs that are refused before any of it is run (the case numbers are those of the language's specification).

use std::time::{Duration, Instant};

use crate::support::Home;

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.workspace().join(name), text).expect("written");
}

/// Runs `p.prose`, which must be refused with `code` and all of `said`, and must not have done anything.
#[track_caller]
fn refused(home: &Home, code: i32, said: &[&str]) {
    let output = home.call(&["run", "p.prose", "--plain"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}");
    for part in said {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!home.workspace().join("done").exists(), "{text}");
    assert!(!home.workspace().join(".prose").exists(), "no run was begun: {text}");
}

#[test]
fn a_broken_gate_or_name_is_an_error_before_the_first_command() {
    let cases = [
        ("C16", "gate g:\n  timeout: \"5m\"\n", "OPE002"),
        ("C16", "gate g:\n  prompt: \"p\"\n  on_reject: explode\n", "on_reject"),
        ("C17", "let x = exec \"true\"\nlet x = exec \"true\"\n", "E019"),
        ("C17", "const c = exec \"true\"\nc = exec \"true\"\n", "const"),
        ("C04", "exec \"echo {nope}\"\n", "E053"),
    ];
    for (case, program, said) in cases {
        let home = Home::new();
        write(&home, "p.prose", &format!("exec \"touch done\"\n{program}"));
        let checked = home.call(&["prose", "check", "p.prose"]);
        assert_eq!(checked.status.code(), Some(1), "{case}");
        refused(&home, 2, &[said]);
    }
}

#[test]
fn a_run_refuses_the_calls_that_check_refuses_and_no_others() {
    let home = Home::new();
    // `late` is asked for only when it is reached: a call may omit it.
    let lib =
        "input n: \"a name\"\nlet x = exec \"echo {n}\"\ninput late: \"later\"\noutput r = \"{x}{late}\"\n";
    write(&home, "lib.prose", lib);
    let program = |call: &str| {
        format!("use \"./lib.prose\" as lib\nexec \"touch done\"\nlet got = {call}\noutput o = got.r\n")
    };
    for (call, code) in [("lib(late: \"x\")", "E026"), ("lib(n: \"a\", m: \"b\")", "E027")] {
        write(&home, "p.prose", &program(call));
        assert_eq!(home.call(&["prose", "check", "p.prose"]).status.code(), Some(1), "{call}");
        refused(&home, 2, &[code]);
    }
    write(&home, "p.prose", &program("lib(n: \"a\", late: \"x\")").replace("got.r", "got.q"));
    refused(&home, 2, &["E028"]);
    // An omitted input becomes a question, which nobody is there to answer.
    write(&home, "p.prose", &program("lib(n: \"a\")"));
    assert_eq!(home.call(&["prose", "check", "p.prose"]).status.code(), Some(0));
    refused(&home, 3, &["lib.prose, line 3: input late"]);
    write(&home, "p.prose", &program("lib(n: \"a\", late: \"b\")"));
    let output = home.call(&["run", "p.prose", "--plain"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("o:\nab"), "{text}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "that nothing waits is the fact")]
fn a_pipe_or_a_file_without_end_keeps_nobody_waiting() {
    let home = Home::new();
    home.fifo("pipe.prose");
    let huge = std::fs::File::create(home.workspace().join("huge.prose")).expect("a file");
    huge.set_len(1 << 40).expect("grown");
    let started = Instant::now();
    for file in ["pipe.prose", "huge.prose"] {
        for command in [&["prose", "check", file][..], &["prose", "fmt", file], &["prose", "ast", file]] {
            assert_eq!(home.call(command).status.code(), Some(2), "{command:?}");
        }
        write(&home, "p.prose", &format!("use \"./{file}\" as lib\nexec \"touch done\"\nlib()\n"));
        assert_eq!(home.call(&["prose", "check", "p.prose"]).status.code(), Some(1), "{file}");
        refused(&home, 2, &[file]);
        let output = home.call(&["run", file, "--plain"]);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}
