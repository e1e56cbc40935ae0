//! The table of faults in `docs/reliability.md`, checked against the existing tests.

use std::fs;
use std::path::{Path, PathBuf};

/// The number of rows in the table.
const ROWS: usize = 65;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A row: number, fault and expected behaviour, tests, and what was measured or why there is no test.
fn rows() -> Vec<[String; 4]> {
    let page = fs::read_to_string(root().join("docs/reliability.md")).expect("docs/reliability.md");
    let cells = |line: &str| -> Option<[String; 4]> {
        let cells: Vec<String> =
            line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        let cells: [String; 4] = cells.try_into().ok()?;
        let number = cells[0].strip_prefix('F')?;
        (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some(cells)
    };
    page.lines().filter(|line| line.starts_with("| F")).filter_map(cells).collect()
}

/// The names of all functions in the Rust files below a folder.
fn functions(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let names = text.split("fn ").skip(1);
            let is_part = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
            found.extend(names.map(|rest| rest.chars().take_while(is_part).collect::<String>()));
        }
    }
}

#[test]
fn every_row_of_the_fault_matrix_is_there_and_names_tests_that_exist() {
    let mut known = Vec::new();
    ["src", "crates", "tests/it"].iter().for_each(|folder| functions(&root().join(folder), &mut known));
    let rows = rows();
    let numbers: Vec<String> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(numbers, (1..=ROWS).map(|number| format!("F{number}")).collect::<Vec<_>>());
    for [number, fault, tests, remark] in &rows {
        let mark = format!("f{:02}_", number[1..].parse::<u32>().expect("a number"));
        assert!(!fault.is_empty(), "{number}");
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || remark.len() > 20, "{number} has neither a test nor a reason");
        for name in names {
            let carries = name.starts_with(&mark) || name.contains(&format!("_{mark}"));
            assert!(carries, "{number}: {name} does not carry the number of its row");
            assert!(known.iter().any(|one| one == name), "{number}: there is no test {name}");
        }
    }
}
