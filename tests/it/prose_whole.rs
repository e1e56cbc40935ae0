//! Programs as people write them: each is run to its end, with a file that answers all its questions.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Home, skip};

/// Every question gets an answer that lets the program reach its end.
const ANSWERS: &str = r#"
[[answer]]
text = "Is this idea primarily"
answer = "yes"

[[answer]]
kind = "yes_no"
answer = "yes"

[[answer]]
kind = "gate"
answer = "approve"

[[answer]]
kind = "choice"
answer = 1

[[answer]]
kind = "text"
answer = "done"
"#;

/// Where a program's author had a repository; each program gets one of its own instead.
const REPOSITORY: &str = "/home/raw/Documents/GitHub/prose";

/// Programs that end with an error that they throw themselves.
const THROWING: [&str; 1] = ["22-error-handling.prose"];

fn folder() -> Option<PathBuf> {
    std::env::var_os("PILOTHOUSE_PROSE_PROGRAMS").map(PathBuf::from).filter(|folder| folder.is_dir())
}

#[test]
fn the_programs_of_a_folder_come_to_their_end() {
    let Some(folder) = folder() else {
        // Not part of the project: set PILOTHOUSE_PROSE_PROGRAMS to a folder of programs.
        return skip("PILOTHOUSE_PROSE_PROGRAMS names no folder of programs");
    };
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("readable")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "prose"))
        .collect();
    programs.sort();
    let mut failed = Vec::new();
    for program in programs {
        let name = program.file_name().expect("a name").to_string_lossy().into_owned();
        let home = Home::new();
        let mut text = std::fs::read_to_string(&program).expect("readable");
        if text.contains(REPOSITORY) {
            let git = "git init -q && touch README.md && git add . && git -c user.name=a -c user.email=a commit -qm a";
            let made = Command::new("sh").args(["-c", git]).current_dir(home.workspace()).status();
            assert!(made.expect("git").success());
            text = text.replace(REPOSITORY, &home.workspace().display().to_string());
        }
        std::fs::write(home.workspace().join(&name), &text).expect("written");
        std::fs::write(home.workspace().join("a.toml"), ANSWERS).expect("written");
        let inputs: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("input ")?.split_once(':'))
            .map(|(input, _)| format!("--set={input}=x"))
            .collect();
        let mut args = vec!["run", &name, "--plain", "--answers", "a.toml", "--gates-from-answers"];
        args.extend(inputs.iter().map(String::as_str));
        let output = home.call(&args);
        let expected = if THROWING.contains(&&*name) { 1 } else { 0 };
        if output.status.code() != Some(expected) {
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let tail: Vec<&str> = out.lines().rev().take(5).collect();
            failed.push(format!("{name}: {:?}\n{}\n{err}", output.status.code(), tail.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
