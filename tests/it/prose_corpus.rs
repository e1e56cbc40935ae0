//! The diagnostics of each program in the corpus, and its canonical form.

use std::path::Path;

use pilothouse::prose::{Profile, SourceText, check, format, render};

fn said(source: &SourceText, profile: Profile) -> String {
    let checked = check(source, profile);
    let all: Vec<String> = checked.diagnostics.iter().map(|one| render(source, one)).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join("\n\n") }
}

fn short(source: &SourceText, profile: Profile) -> String {
    let checked = check(source, profile);
    let line = |one: &pilothouse::prose::Diagnostic| {
        format!("{} {} {}", source.position(one.span.start()), one.code, one.message)
    };
    checked.diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_diagnostics_of_each_program_in_the_corpus_match_the_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/prose");
    let mut entries: Vec<_> = std::fs::read_dir(folder).expect("the corpus").flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("a program");
        let source = SourceText::new(&format!("{name}.prose"), &text).expect("short");
        let canonical = match format(&source) {
            Ok(canonical) if canonical == text => "as it is\n".to_owned(),
            Ok(canonical) => canonical,
            Err(_) => "none: it has no form of the language\n".to_owned(),
        };
        let page = format!(
            "== compat\n{}\n\n== strict\n{}\n\n== canonical\n{canonical}",
            said(&source, Profile::Compat),
            short(&source, Profile::Strict),
        );
        insta::assert_snapshot!(format!("prose_{name}"), page);
    }
}
