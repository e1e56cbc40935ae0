//! The programs that the language's author tests his own validator with. They are not part of this project: a variable
//! names the folder of a copy.

use std::collections::BTreeSet;
use std::path::Path;

use pilothouse::prose::{Profile, SourceText, check};

use crate::support::skip;

/// Names the folder that has `permutation-tests`, `invalid-programs` and `test-programs` in it.
const FOLDER: &str = "PILOTHOUSE_PROSE_AUTHOR";

/// His invalid programs, by their numbers, that both profiles accept: the language has no rule against them.
const NO_RULE: [(&str, &[u32]); 16] = [
    ("a brace that opens or closes no interpolation is text", &[12, 94, 95, 112, 113, 116]),
    ("an empty body is a warning", &[14, 15, 16, 48, 128, 129, 150]),
    ("an empty prompt is a warning", &[98, 157]),
    ("another number of arguments is a warning", &[41, 42, 88]),
    ("a count may be left out, and one above the number of branches is a warning", &[33, 60]),
    ("a single branch may be the first", &[59]),
    ("an agent needs no property", &[45, 46]),
    ("an error may be thrown anywhere", &[50]),
    ("definitions are hoisted, wherever they stand", &[56, 57, 91, 101, 104, 117]),
    ("a block may call itself", &[93, 119]),
    ("no word is reserved, and names have no length or form", &[62, 63, 64, 65, 66, 67, 68]),
    ("the same, in other places", &[131, 132, 133, 134, 136, 141]),
    ("a name bound in a loop or branch is the program's", &[122, 151, 152, 153]),
    ("alternatives of which one is taken may bind the same name", &[156]),
    ("depth and the number of parameters have no limit", &[142, 143]),
    ("an arrow needs no space, and a backoff no retry", &[145, 138]),
];

/// His valid programs that `compat` refuses.
const REFUSED: [(&str, &[u32]); 2] = [
    ("a backoff is a word, not a number of milliseconds", &[61, 106, 162]),
    ("an arrow has a session behind it on its line", &[168]),
];

fn numbers(list: &[(&str, &[u32])]) -> BTreeSet<u32> {
    list.iter().flat_map(|(_, numbers)| *numbers).copied().collect()
}

/// The programs of a folder: the number that its name begins with, and whether `compat` and `strict` accept it.
fn verdicts(folder: &Path) -> Vec<(u32, bool, bool)> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.flatten().map(|entry| entry.path());
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "prose"));
    let verdict = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let source =
            SourceText::new(&name, &std::fs::read_to_string(&path).expect("a program")).expect("short");
        let accepts = |profile| !check(&source, profile).has_errors();
        let number = name.split('-').next().and_then(|number| number.parse().ok());
        (number.unwrap_or(0), accepts(Profile::Compat), accepts(Profile::Strict))
    };
    programs.map(verdict).collect()
}

#[test]
#[ignore = "needs a copy of the author's programs; .ci/long runs it"]
fn long_the_authors_programs_have_his_verdict() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return skip("PILOTHOUSE_PROSE_AUTHOR names no folder");
    };
    let folder = Path::new(&folder);
    let valid = verdicts(&folder.join("permutation-tests"));
    let refused: BTreeSet<u32> = valid.iter().filter(|it| !it.1).map(|it| it.0).collect();
    eprintln!("valid: {} of {} accepted", valid.len() - refused.len(), valid.len());
    let invalid = verdicts(&folder.join("invalid-programs"));
    let passed: BTreeSet<u32> = invalid.iter().filter(|it| it.1 && it.2).map(|it| it.0).collect();
    let only_compat = invalid.iter().filter(|it| it.1 && !it.2).count();
    eprintln!(
        "invalid: {} of {} refused, {only_compat} accepted with a warning that is an error in `strict`, {} against no rule",
        invalid.iter().filter(|it| !it.1).count(),
        invalid.len(),
        passed.len(),
    );
    let tests = verdicts(&folder.join("test-programs"));
    eprintln!("test programs: {} of {} accepted", tests.iter().filter(|it| it.1).count(), tests.len());
    assert_eq!((valid.len(), invalid.len(), tests.len()), (239, 157, 53));
    assert_eq!(refused, numbers(&REFUSED));
    assert_eq!(passed, numbers(&NO_RULE));
    assert!(tests.iter().all(|it| it.1));
}
