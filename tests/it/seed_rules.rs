//! The rules of the contracts (`seed_rules.txt`: number of the contract, rule, test): each names the test that shows it, or the
//! section of docs/contract.md with the reason why it does not hold.

use crate::architecture::{files_below, root};

#[test]
fn each_rule_of_the_contracts_names_a_test_that_exists_or_a_section_with_the_reason() {
    let root = root();
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("text");
    let code: String = ["src", "crates", "tests"]
        .iter()
        .flat_map(|folder| files_below(&root.join(folder), "rs"))
        .map(|path| read(&path))
        .collect();
    let contract = read(&root.join("docs/contract.md"));
    let rules = read(&root.join("tests/it/seed_rules.txt"));
    let mut counts = [0; 5];
    for line in rules.lines() {
        let [contract_number, rule, shown] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let number: usize = contract_number.parse().expect("a number");
        counts[number] += 1;
        match shown.strip_prefix("docs/contract.md: ") {
            Some(section) => assert!(contract.contains(&format!("# {section}\n")), "{rule}: {section}"),
            None => assert!(code.contains(&format!("fn {shown}(")), "{rule}: no test {shown}"),
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
