//! The reference of codes is written from their table, and each case and decision has a test that names it.

use std::collections::BTreeSet;
use std::path::Path;

use pilothouse::prose::codes_reference;

#[test]
fn the_checked_in_reference_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/prose-codes.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, codes_reference()).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == codes_reference(),
        "docs/reference/prose-codes.md is not what the program has: run \
         `UPDATE_REFERENCE=1 cargo test --test it prose_codes` and look at the difference"
    );
}

/// Numbers that stand behind a word in what tests say: `Decision 4.`, `Decisions 10 and 11.`, `Decisions 2, 28`.
fn named(text: &str, into: &mut BTreeSet<usize>) {
    for after in text.split("ecision").skip(1) {
        let after = after.trim_start_matches('s').trim_start();
        let list = after.split(|c: char| !(c.is_ascii_digit() || c == ' ' || c == ',' || "and-".contains(c)));
        let list = list.take(1).flat_map(|list| list.split(|c: char| !c.is_ascii_digit()));
        into.extend(list.filter_map(|number| number.parse::<usize>().ok()));
    }
}

#[test]
fn each_case_and_each_decision_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut decisions = BTreeSet::new();
    let mut cases = String::new();
    for folder in ["src/prose/tests", "src/prose/vm/tests", "src/prose/run", "src/prose", "tests/it"] {
        for file in std::fs::read_dir(root.join(folder)).expect("a folder").flatten() {
            let path = file.path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("readable");
            let is_all_tests = folder.contains("tests");
            let tests = if is_all_tests {
                Some(&*text)
            } else {
                text.split_once("#[cfg(test)]\nmod tests {").map(|it| it.1)
            };
            for line in tests.unwrap_or_default().lines().filter(|line| line.trim_start().starts_with("//")) {
                named(line, &mut decisions);
            }
            cases.push_str(&text.to_lowercase());
        }
    }
    let missing: Vec<usize> = (1..=42).filter(|number| !decisions.contains(number)).collect();
    assert_eq!(missing, Vec::<usize>::new(), "decisions of docs/prose.md without a test");
    let is_named = |number: &usize| {
        cases.contains(&format!("_c{number:02}(")) || cases.contains(&format!("c{number:02}_"))
    };
    let missing: Vec<usize> = (1..=18).filter(|number| !is_named(number)).collect();
    assert_eq!(missing, Vec::<usize>::new(), "cases without a test");
}
