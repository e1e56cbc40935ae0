//! The reference of codes is generated from their table, and every rule for programs is shown by example.

use std::collections::BTreeSet;
use std::path::Path;

use pilothouse::prose::{Profile, SourceText, check, codes_reference};

use crate::support::Home;

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

/// An example program of a rule, and what must come of it.
struct Example {
    /// `check`, `strict`, `gives` or `fails`.
    how: String,
    expected: String,
    program: String,
}

/// A rule of `docs/prose-rules.md`.
struct Rule {
    number: u32,
    examples: Vec<Example>,
    /// The tests it names.
    tests: Vec<String>,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("readable")
}

fn rules() -> Vec<Rule> {
    let page = read("docs/prose-rules.md");
    page.split("\n## Rule ").skip(1).map(rule).collect()
}

fn rule(section: &str) -> Rule {
    let (number, text) = section.split_once('\n').expect("a heading");
    let examples = text.split("```prose ").skip(1).map(|example| {
        let (info, rest) = example.split_once('\n').expect("a program");
        let (how, expected) = info.split_once(": ").expect("what becomes of it");
        let (program, _) = rest.split_once("```\n").expect("the end of a program");
        Example { how: how.to_owned(), expected: expected.to_owned(), program: program.to_owned() }
    });
    let named = text.split_once("\nTest").map_or("", |(_, named)| named);
    let tests = named.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Rule { number: number.trim().parse().expect("a number"), examples: examples.collect(), tests }
}

/// The diagnostics of a check as `CODE:LINE`.
fn findings(program: &str, profile: Profile) -> String {
    let source = SourceText::new("p.prose", program).expect("short");
    let checked = check(&source, profile);
    let each = checked.diagnostics.iter();
    let each: Vec<String> =
        each.map(|one| format!("{}:{}", one.code, source.line_of(one.span.start()))).collect();
    if each.is_empty() { "nothing".to_owned() } else { each.join(" ") }
}

fn run(program: &str) -> (Option<i32>, serde_json::Value) {
    let home = Home::new();
    std::fs::write(home.workspace().join("p.prose"), program).expect("written");
    let output = home.call(&["run", "p.prose", "--output", "json"]);
    let response = serde_json::from_slice(&output.stdout).expect("a response");
    (output.status.code(), response)
}

#[test]
fn every_example_of_a_rule_comes_out_as_the_rule_says() {
    let mut shown = 0;
    for rule in rules() {
        for Example { how, expected, program } in rule.examples {
            let place = format!("rule {}\n{program}", rule.number);
            match &*how {
                "check" => assert_eq!(findings(&program, Profile::Compat), expected, "{place}"),
                "strict" => assert_eq!(findings(&program, Profile::Strict), expected, "{place}"),
                "gives" => {
                    let (code, response) = run(&program);
                    assert_eq!(code, Some(0), "{place}{response:#}");
                    let output = response["data"]["outputs"]["o"].as_str().unwrap_or_default();
                    assert_eq!(output.trim(), expected, "{place}{response:#}");
                }
                "fails" => {
                    let (code, response) = run(&program);
                    assert_eq!(code, Some(1), "{place}{response:#}");
                    assert!(response.to_string().contains(&expected), "{place}{response:#}");
                }
                other => panic!("{place}no such outcome: {other}"),
            }
            shown += 1;
        }
    }
    assert!(shown > 35, "{shown}");
}

/// The names of all test functions in the sources below a folder.
fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_below(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for after in text.split("#[test]\n").chain(text.split("#[tokio::test")).skip(1) {
            let signature = after.lines().map(str::trim_start).find(|line| line.contains("fn "));
            let name = signature.and_then(|line| line.split_once("fn ")?.1.split('(').next());
            found.extend(name.map(str::to_owned));
        }
    }
}

#[test]
fn every_rule_has_a_number_and_an_example_or_a_test_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    tests_below(&root.join("src/prose"), &mut known);
    tests_below(&root.join("crates/prose-syntax"), &mut known);
    tests_below(&root.join("tests/it"), &mut known);
    let rules = rules();
    for (rule, number) in rules.iter().zip(1..) {
        assert_eq!(rule.number, number, "rules are numbered without gaps");
        assert!(!rule.examples.is_empty() || !rule.tests.is_empty(), "rule {number} is shown by nothing");
        for test in &rule.tests {
            assert!(known.contains(test), "rule {number}: there is no test `{test}`");
        }
    }
    // Each case of the language has a test.
    for case in 1..=18 {
        let (before, after) = (format!("c{case:02}_"), format!("_c{case:02}"));
        let is_it = |name: &String| name.starts_with(&before) || name.ends_with(&after);
        assert!(known.iter().any(is_it), "there is no test of case {case}");
    }
}

/// The Rust files below a folder.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = folder.read_dir().expect("a folder").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_rule_that_is_referred_to_is_on_its_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let last = rules().len();
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut named = 0;
    for file in ["src", "crates", "tests/it"].iter().flat_map(|folder| files_below(&root.join(folder))) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for link in text.split(['#']).filter_map(|link| link.strip_prefix("rule-")) {
            let is_there = number(link).parse().is_ok_and(|number: usize| (1..=last).contains(&number));
            assert!(is_there || file.ends_with("prose_codes.rs"), "{}: rule {link:.10}", file.display());
            named += 1;
        }
    }
    // The page on programs refers to the rules by number, in parentheses.
    for reference in read("docs/prose.md").split('(').skip(1).filter_map(|rest| rest.split_once(')')) {
        let numbers = reference.0.split(", ").map(str::parse::<usize>).collect::<Result<Vec<_>, _>>();
        for number in numbers.unwrap_or_default() {
            assert!((1..=last).contains(&number), "docs/prose.md: rule {number}");
            named += 1;
        }
    }
    assert!(named > 60, "{named}");
}
