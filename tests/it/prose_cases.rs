//! Programs run for real by `pilothouse run`: the rules of `docs/prose-rules.md` and the cases c05 to c18, one test each.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use crate::support::{Home, Tag};

/// A program, run in a throw-away workspace.
struct Ran {
    home: Home,
    output: Output,
    took: Duration,
}

#[expect(clippy::disallowed_methods, reason = "how long a program takes is the fact")]
fn run_with(program: &str, args: &[&str], answers: &str) -> Ran {
    let home = Home::new();
    std::fs::write(home.workspace().join("p.prose"), program).expect("written");
    std::fs::write(home.workspace().join("a.toml"), answers).expect("written");
    let mut all = vec!["run", "p.prose", "--plain"];
    if !answers.is_empty() {
        all.extend(["--answers", "a.toml", "--gates-from-answers"]);
    }
    all.extend(args);
    let started = Instant::now();
    let output = home.call(&all);
    Ran { took: started.elapsed(), home, output }
}

fn run(program: &str) -> Ran {
    run_with(program, &[], "")
}

impl Ran {
    fn text(&self) -> String {
        let Output { stdout, stderr, .. } = &self.output;
        format!("{}{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
    }

    #[track_caller]
    fn ends(&self, code: i32) -> &Self {
        assert_eq!(self.output.status.code(), Some(code), "{}", self.text());
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.workspace().join(name)
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn run_folder(&self) -> PathBuf {
        run_folder(&self.home)
    }

    fn file(&self, name: &str) -> String {
        let path = self.run_folder().join(name);
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", path.display(), self.text()))
    }

    /// The value in a binding file.
    fn value(&self, name: &str) -> String {
        let text = self.file(&format!("bindings/{name}.md"));
        text.split_once("\n---\n\n").expect("a binding").1.to_owned()
    }

    fn bindings(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.run_folder().join("bindings")).expect("a folder");
        let mut names: Vec<String> =
            files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The folder of the only run of a workspace.
pub(crate) fn run_folder(home: &Home) -> PathBuf {
    let runs = home.workspace().join(".prose/runs");
    let folders = std::fs::read_dir(&runs).expect("runs").flatten().map(|run| run.path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

fn canonical(path: &Path) -> String {
    path.canonicalize().expect("canonical").display().to_string()
}

#[test]
fn a_value_is_inserted_without_its_last_line_feed_c05() {
    // docs/prose-rules.md#rule-13.
    let ran = run("let b = exec \"echo hi\"\nlet c = exec \"echo {b}-x\"\n");
    assert_eq!(ran.ends(0).value("c"), "hi-x\n");
    assert_eq!(ran.value("b"), "hi\n");
}

#[test]
fn braces_that_are_no_names_stay_c06() {
    // docs/prose-rules.md#rule-14.
    let ran = run("let a = exec \"echo \\{x\\} {} {a b}\"\n");
    assert_eq!(ran.ends(0).value("a"), "{x} {} {a b}\n");
}

#[test]
fn a_cd_counts_for_the_next_command_and_a_bare_command_leaves_no_file_c07() {
    // docs/prose-rules.md#rule-2.
    let ran = run("exec \"mkdir -p d\"\nexec \"cd d\"\nlet p = exec \"pwd\"\n");
    assert_eq!(ran.ends(0).value("p").trim(), canonical(&ran.path("d")));
    assert_eq!(ran.bindings(), ["p.md"]);
    assert_eq!(ran.file("state.md").lines().skip(2).take(3).collect::<Vec<_>>(), ["1→ ✓", "2→ ✓", "3→ p ✓"]);
}

#[test]
fn a_cwd_of_its_own_holds_for_that_command_alone_c08() {
    // docs/prose-rules.md#rule-1.
    let ran = run(
        "let q = exec \"cd /; pwd\"\n  cwd: \"/tmp\"\nlet p = exec \"pwd\"\nlet h = exec \"pwd\"\n  cwd: \"~/\"\n",
    );
    assert_eq!((ran.ends(0).value("q").trim(), ran.value("p").trim()), ("/", &*canonical(&ran.path("."))));
    assert_eq!(ran.value("h").trim(), canonical(&ran.path("..")));
}

#[test]
fn a_failing_command_ends_the_program_and_says_why_c09() {
    let ran = run("exec \"echo why >&2; exit 7\"\nexec \"touch never\"\n");
    ran.ends(1);
    assert!(ran.text().contains("exit code 7") && ran.text().contains("why"), "{}", ran.text());
    assert!(!ran.has("never"));
    let state = ran.file("state.md");
    assert!(state.lines().last().is_some_and(|line| line.starts_with("---error ")), "{state}");
}

#[test]
fn continue_tells_how_a_command_ended_and_ignore_never_does_c10() {
    // docs/prose-rules.md#rule-7.
    let ran = run("let r = exec \"echo o; echo e >&2; exit 3\"\n  on-fail: \"continue\"\n\
         let i = exec \"echo o; echo e >&2; exit 3\"\n  on-fail: \"ignore\"\nexec \"touch after\"\n");
    ran.ends(0);
    assert!(ran.has("after"));
    let file = ran.file("bindings/r.md");
    assert!(file.contains("exit_code: 3\nstderr: e\n") && file.ends_with("\n---\n\no\n"), "{file}");
    let file = ran.file("bindings/i.md");
    assert!(
        !file.contains("exit_code") && !file.contains("stderr") && file.ends_with("\n---\n\no\n"),
        "{file}"
    );
}

#[test]
fn an_error_is_caught_with_how_the_command_ended_c11() {
    let ran = run(
        "try:\n  exec \"echo bad >&2; exit 4\"\n  exec \"touch no\"\ncatch as err:\n  exec \"touch caught\"\nfinally:\n  exec \"touch fin\"\nexec \"touch on\"\n",
    );
    ran.ends(0);
    assert_eq!(["caught", "fin", "on", "no"].map(|name| ran.has(name)), [true, true, true, false]);
    assert!(ran.file("bindings/err.md").contains("exit_code: 4\nstderr: bad\n"));
}

#[test]
fn a_timeout_ends_the_whole_tree_and_is_told_c12() {
    // docs/prose-rules.md#rule-5, #rule-6.
    let tag = Tag::new();
    let program =
        format!("let t = exec \"sleep {} | cat\"\n  timeout: \"1s\"\n  on-fail: \"continue\"\n", tag.0);
    let ran = run(&program);
    ran.ends(0);
    assert!(ran.took < Duration::from_secs(60), "{:?}", ran.took);
    let file = ran.file("bindings/t.md");
    assert!(file.contains("exit_code: 124\n") && file.contains("timed_out: true\n"), "{file}");
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn a_block_that_continues_binds_what_failed_c13() {
    // docs/prose-rules.md#rule-9.
    let ran = run(
        "parallel (on-fail: \"continue\"):\n  a = exec \"exit 1\"\n  b = exec \"echo ok\"\nexec \"touch after\"\n",
    );
    ran.ends(0);
    assert!(ran.has("after") && ran.file("bindings/a.md").contains("exit_code: 1\n"));
    assert_eq!(ran.value("b"), "ok\n");
}

#[test]
fn the_first_failure_ends_the_other_branches_c14() {
    // docs/prose-rules.md#rule-12.
    let tag = Tag::new();
    let ran = run(&format!(
        "try:\n  parallel:\n    exec \"exit 1\"\n    exec \"sleep {}\"\ncatch:\n  exec \"touch c\"\n",
        tag.0
    ));
    ran.ends(0);
    assert!(ran.has("c") && ran.took < Duration::from_secs(60), "{:?}", ran.took);
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn a_gate_opens_only_when_somebody_opens_it_c15() {
    // docs/prose-rules.md#rule-28, #rule-29, #rule-40.
    let program = "gate g:\n  prompt: \"go?\"\nexec \"touch went\"\n";
    let ran = run(program);
    ran.ends(3);
    assert!(ran.text().contains("gate g: go?") && !ran.has("went") && !ran.has(".prose"), "{}", ran.text());
    let ran = run_with(program, &[], "[[answer]]\nname = \"g\"\nanswer = \"approve\"\n");
    assert!(ran.ends(0).has("went"));
    assert!(ran.file("state.md").contains("1→ gate:g approved(file)"));
    assert!(ran.file("gates/g.resolved.json").contains("\"principal\": \"file\""));
    let ran = run_with(program, &[], "[[answer]]\nname = \"g\"\nanswer = false\n");
    assert!(!ran.ends(1).has("went"));
    let home = Home::new();
    std::fs::write(home.workspace().join("p.prose"), program).expect("written");
    std::fs::write(home.workspace().join("a.toml"), "[[answer]]\nanswer = \"approve\"\n").expect("written");
    let without = home.call(&["run", "p.prose", "--plain", "--answers", "a.toml"]);
    assert_eq!(without.status.code(), Some(3), "answers open no gate unless they may");
}

#[test]
fn a_program_with_errors_does_not_begin_c04() {
    let ran = run("exec \"touch early\"\nexec \"echo {nope}\"\n");
    ran.ends(2);
    assert!(ran.text().contains("E053") && ran.text().contains("nope"), "{}", ran.text());
    assert!(!ran.has("early") && !ran.has(".prose"));
    assert_eq!(run("gate g:\n  timeout: \"5m\"\n").ends(2).output.status.code(), Some(2), "C16");
    run("let x = exec \"true\"\nlet x = exec \"true\"\n").ends(2);
}

#[test]
fn each_call_of_a_block_has_a_number_c18() {
    let ran = run("block f(n):\n  exec \"echo {n} >> log\"\ndo f(\"a\")\ndo f(\"b\")\n");
    ran.ends(0);
    assert_eq!(std::fs::read_to_string(ran.path("log")).expect("a file"), "a\nb\n");
    let state = ran.file("state.md");
    for line in ["1→ block:f#1", "1→ #1 done", "2→ block:f#2", "2→ #2 done"] {
        assert!(state.lines().any(|known| known == line), "{line} in\n{state}");
    }
}

#[test]
fn signals_and_missing_commands_have_the_codes_of_a_shell() {
    // docs/prose-rules.md#rule-5.
    let ran = run(
        "let k = exec \"kill -TERM $$\"\n  on-fail: \"continue\"\nlet n = exec \"no-such-command-here\"\n  on-fail: \"continue\"\n\
         let w = exec \"true\"\n  cwd: \"/no/such/place\"\n  on-fail: \"continue\"\n",
    );
    ran.ends(0);
    for (name, code) in [("k", 143), ("n", 127), ("w", 126)] {
        let file = ran.file(&format!("bindings/{name}.md"));
        assert!(file.contains(&format!("exit_code: {code}\n")), "{file}");
    }
    assert!(
        ran.file("bindings/w.md")
            .contains("the directory cannot be entered, it does not exist: /no/such/place\n")
    );
}

#[test]
fn only_30_000_characters_are_kept_and_the_rest_is_drained() {
    // docs/prose-rules.md#rule-22.
    let ran = run(
        "let l = exec \"seq 1 400000; echo e >&2\"\nlet m = exec \"seq 1 400000 >&2; echo o; exit 1\"\n  on-fail: \"continue\"\n",
    );
    let file = ran.ends(0).file("bindings/l.md");
    assert!(
        file.contains("stdout_truncated: true\n") && !file.contains("stderr_truncated"),
        "{}",
        &file[..200]
    );
    assert_eq!(ran.value("l").chars().count(), 30_000);
    // Each stream by itself.
    let file = ran.file("bindings/m.md");
    assert!(
        file.contains("stderr_truncated: true\n") && !file.contains("stdout_truncated"),
        "{}",
        &file[..200]
    );
}

#[test]
fn export_does_not_carry_and_the_shell_is_recorded() {
    // docs/prose-rules.md#rule-3, #rule-33.
    let ran = run("exec \"export PROSE_TEST=1; shopt -s extglob; alias g=true; h() { :; }\"\n\
         let v = exec \"echo $\\{PROSE_TEST-unset\\}; type g h 2>/dev/null || echo gone\"\n");
    assert_eq!(ran.ends(0).value("v"), "unset\ngone\n");
    let first = ran.file("journal.jsonl").lines().next().expect("a row").to_owned();
    assert!(first.contains("\"shell\":\"") && first.contains("sh\""), "{first}");
}

#[test]
fn a_leftover_process_of_a_command_lives_until_the_program_ends() {
    // docs/prose-rules.md#rule-34.
    let tag = Tag::new();
    let ran = run(&format!(
        "exec \"sleep {} & echo $! > pid\"\nlet alive = exec \"kill -0 $(cat pid) && echo yes\"\n",
        tag.0
    ));
    assert_eq!(ran.ends(0).value("alive"), "yes\n");
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn a_loser_is_ended_and_the_winner_is_the_value() {
    // docs/prose-rules.md#rule-10, #rule-11.
    let tag = Tag::new();
    let ran = run(&format!(
        "let w = parallel (\"first\"):\n  exec \"sleep {}\"\n  exec \"echo quick\"\noutput o = w\n",
        tag.0
    ));
    assert_eq!(ran.ends(0).value("o"), "quick\n");
    assert!(ran.text().contains("o:\nquick"), "{}", ran.text());
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[test]
fn a_used_program_has_a_folder_and_names_of_its_own() {
    // docs/prose-rules.md#rule-4.
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.workspace().join(name), text).expect("written");
    write(
        "lib.prose",
        "input n: \"a name\"\nlet x = exec \"mkdir -p d && cd d && echo {n}\"\noutput r = \"{x}!\"\n",
    );
    write(
        "p.prose",
        "use \"./lib.prose\" as lib\nlet x = \"mine\"\nlet got = lib(n: \"ada\")\noutput o = got.r\noutput p = exec \"pwd\"\n",
    );
    let output = home.call(&["run", "p.prose", "--plain"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let folder = run_folder(&home);
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file");
    assert!(file("imports/local--lib/bindings/x.md").ends_with("\nada\n"));
    assert!(file("imports/local--lib/state.md").contains("---end "));
    assert!(file("bindings/x.md").ends_with("\nmine") && file("bindings/o.md").ends_with("\nada!"));
    assert!(text.contains(&canonical(&home.workspace())), "{text}");
    write("q.prose", "use \"./lib.prose\" as lib\nlet got = lib(m: \"ada\")\n");
    let refused = home.call(&["run", "q.prose", "--plain"]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("E026") && text.contains("E027"), "{text}");
}

#[test]
fn inputs_are_given_or_refused_before_anything_runs() {
    // docs/prose-rules.md#rule-19.
    let program = "input who: \"Who?\"\nexec \"echo hello {who} > said\"\n";
    let ran = run_with(program, &["--set", "who=ada"], "");
    ran.ends(0);
    assert_eq!(std::fs::read_to_string(ran.path("said")).expect("a file"), "hello ada\n");
    assert!(ran.file("bindings/who.md").contains("kind: input\n"));
    run_with(program, &["--set", "what=ada"], "").ends(2);
    run_with(program, &["--set", "who"], "").ends(2);
    assert!(run(program).ends(3).text().contains("input who: Who?"));
}

#[test]
fn a_program_that_may_ask_begins_when_that_is_wanted_and_stops_there() {
    let program = "exec \"touch early\"\nif **it is fine**:\n  exec \"touch late\"\n";
    let ran = run(program);
    assert!(!ran.ends(3).has("early"));
    assert!(ran.text().contains("p.prose, line 2: if: it is fine"), "{}", ran.text());
    let ran = run_with(program, &["--lazy-judgement"], "");
    assert!(ran.ends(3).has("early") && !ran.has("late"));
    assert!(ran.text().contains("--resume"), "{}", ran.text());
}

#[test]
fn files_of_a_run_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let ran = run("let x = exec \"echo secret\"\n");
    ran.ends(0);
    let mode =
        |name: &str| ran.run_folder().join(name).metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode("."), mode("bindings")), (0o700, 0o700));
    for name in ["state.md", "journal.jsonl", "program.prose", "bindings/x.md"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}
