//! Everyday lines keep their answers: what is read more closely does not make more of them "not known".

#[path = "../../../../tests/it/command_lines/rows.rs"]
mod rows;

use pilothouse_consequence::STACK;

use crate::folder::Folder;

/// The answers that are not "no cost computed", each behind the name of its line.
const ANSWERS: &str = include_str!("answers.txt");

#[test]
fn everyday_lines_keep_their_answers() {
    let Some(folder) = Folder::new() else { return crate::skip() };
    let lines = rows::rows().into_iter().map(|(name, line)| {
        let line = line.replace("GIT &&", "git init -q . && git commit -q --allow-empty -m a &&");
        (name, line.replace("TAG", "300"))
    });
    let lines: Vec<(&str, String)> = lines.collect();
    let say = || {
        lines
            .iter()
            .map(|(name, line)| format!("{name}: {}", folder.consequence(line).sentences().join("; ")))
    };
    let said: Vec<String> = std::thread::scope(|scope| {
        let run = std::thread::Builder::new().stack_size(STACK);
        let said =
            run.spawn_scoped(scope, || say().filter(|said| !said.ends_with(": no cost computed")).collect());
        said.expect("a thread").join().expect("it ends")
    });
    assert_eq!(said.join("\n"), ANSWERS.trim_end());
}
