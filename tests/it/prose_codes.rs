//! The reference of codes is written from their table.

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
