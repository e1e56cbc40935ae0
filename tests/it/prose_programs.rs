//! Programs by other people, if a folder of them is available: each is parsed without an error.

use std::fs;
use std::path::PathBuf;

use pilothouse::prose::{Profile, SourceText, check, render};

use crate::support::skip;

/// The variable that names the folder.
const FOLDER: &str = "PILOTHOUSE_PROSE_PROGRAMS";

#[test]
fn real_programs_have_no_errors_in_compat() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return skip(&format!("{FOLDER} names no folder of programs"));
    };
    let mut read = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&folder).expect("a folder of programs").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "prose") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a program");
        let source = SourceText::new(&path.display().to_string(), &text).expect("short");
        let checked = check(&source, Profile::Compat);
        let errors = checked.diagnostics.iter().filter(|one| one.is_error());
        wrong.extend(errors.map(|one| render(&source, one)));
        read += 1;
    }
    assert!(read > 0, "no program in {}", folder.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
