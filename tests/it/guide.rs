//! The guide is true: its links lead somewhere, and its keys do what it says.

use std::path::{Path, PathBuf};

use pilothouse::console::{FIRST_PLACE, FIRST_WAY};

fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["docs", "docs/decisions", "docs/reference"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| folder.read_dir().expect("a folder of the guide"));
    let files = files.map(|file| file.expect("a file").path());
    let top = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|page| root.join(page));
    let files = files.chain(top);
    let pages = files.filter(|file| file.extension() == Some("md".as_ref()));
    pages.map(|page| (page.clone(), std::fs::read_to_string(page).expect("text"))).collect()
}

#[test]
fn every_link_and_picture_of_the_guide_is_there() {
    let mut links = 0;
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link)) {
            let is_outside =
                link.contains("://") || link.starts_with('#') || link.contains(char::is_whitespace);
            let path = link.split('#').next().unwrap_or_default();
            if is_outside || path.is_empty() {
                continue;
            }
            let folder = page.parent().expect("a folder");
            assert!(folder.join(path).exists(), "{}: {link} leads nowhere", page.display());
            links += 1;
        }
    }
    assert!(links > 20, "{links}");
}

#[test]
fn every_page_of_the_guide_is_in_the_book() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the book's contents");
    for (page, _) in pages() {
        let Ok(page) = page.strip_prefix(&docs) else { continue };
        let is_listed = summary.contains(&format!("]({})", page.display()));
        assert!(is_listed || page == Path::new("SUMMARY.md"), "{} is not in SUMMARY.md", page.display());
    }
}

/// The text of a file of this repository, without marks, its words one space apart.
fn words(path: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("text");
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_first_way_to_connect_an_agent_is_described_in_the_same_words_everywhere() {
    let way = format!("{FIRST_WAY} {FIRST_PLACE}");
    for page in ["README.md", "docs/getting-started.md"] {
        let text = words(page);
        let first = text.find(&format!("In your project, run pilothouse, and {way}."));
        let second = text.find("mcp install").expect("the second way");
        assert!(first.is_some_and(|first| first < second), "{page}");
    }
    let screens = ["80x24", "120x40"].map(|size| format!("it__console_screens__empty_{size}.snap"));
    let screens = screens.map(|name| format!("tests/it/snapshots/{name}"));
    // The demo's end: on its screen twice, and on the terminal it leaves (`e2e_demo`).
    for (shown, times) in [(screens[0].as_str(), 1), (&screens[1], 1), ("assets/demo/script.toml", 2)] {
        assert_eq!(words(shown).matches(&way).count(), times, "{shown}");
    }
}

#[test]
fn the_readme_is_read_in_three_minutes_and_its_picture_loads() {
    let text = words("README.md");
    assert!(text.split(' ').count() <= 900, "{} words", text.split(' ').count());
    let sentence = text.split("**").nth(1).expect("a sentence in bold");
    assert!(sentence.split(' ').count() <= 15, "{sentence}");
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
    for picture in images.read_dir().expect("pictures").map(|picture| picture.expect("a picture")) {
        let bytes = picture.metadata().expect("a picture").len();
        assert!(bytes <= 1 << 20, "{}: {bytes} bytes", picture.path().display());
    }
}

/// The Rust files in a folder.
fn code(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder of code").flatten() {
        match entry.path() {
            path if path.is_dir() => code(&path, found),
            path if path.extension() == Some("rs".as_ref()) => found.push(path),
            _ => {}
        }
    }
}

/// The anchor by which links refer to a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words.replace(' ', "-").chars().filter(|letter| letter.is_alphanumeric() || *letter == '-').collect()
}

#[test]
fn every_section_of_the_contract_that_code_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contract = std::fs::read_to_string(root.join("docs/contract.md")).expect("the contract");
    let sections: Vec<String> = contract.lines().filter(|line| line.starts_with("## ")).map(anchor).collect();
    let mut files = Vec::new();
    code(&root.join("src"), &mut files);
    code(&root.join("crates"), &mut files);
    let mut named = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        for link in text.split("docs/contract.md#").skip(1) {
            let end =
                link.find(|letter: char| !letter.is_alphanumeric() && letter != '-').unwrap_or(link.len());
            let section = &link[..end];
            assert!(sections.iter().any(|known| known == section), "{}: {section}", file.display());
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}

/// The text after each `decision` or `decisions` that is followed by a number, unless it is the text of a link.
fn bare_decisions(text: &str) -> impl Iterator<Item = &str> {
    let number =
        |rest: &str| rest.trim_start_matches('s').trim_start().starts_with(|c: char| c.is_ascii_digit());
    text.match_indices("decision").filter_map(move |(at, word)| {
        let linked = text[..at].ends_with('[');
        let rest = &text[at + word.len()..];
        (!linked && number(rest)).then(|| rest.lines().next().unwrap_or_default())
    })
}

#[test]
fn every_decision_that_is_named_is_a_page_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    code(&root.join("src"), &mut files);
    code(&root.join("crates"), &mut files);
    code(&root.join("tests/it"), &mut files);
    let mut texts: Vec<(PathBuf, String)> = pages();
    texts.extend(files.into_iter().map(|file| {
        let text = std::fs::read_to_string(&file).expect("text");
        (file, text)
    }));
    let mut named = 0;
    for (file, text) in texts {
        if file.ends_with("tests/it/guide.rs") {
            continue;
        }
        let bare = bare_decisions(&text).next();
        assert_eq!(bare, None, "{}: a decision by number alone, give its page", file.display());
        let links = text.split("docs/decisions/").skip(1);
        for link in links.filter(|link| link.starts_with(|c: char| c.is_ascii_digit())) {
            let page = link.split_inclusive(".md").next().unwrap_or_default();
            assert!(root.join("docs/decisions").join(page).exists(), "{}: {page}", file.display());
            named += 1;
        }
    }
    assert!(named > 1, "{named}");
}

#[cfg(feature = "console")]
#[test]
fn every_key_that_the_guide_names_does_what_it_says() {
    use std::collections::BTreeSet;

    use pilothouse::console::keys::keymap::{KeyContext, Keymap};

    let keymap = Keymap::built_in();
    let lists = KeyContext::ALL.iter().flat_map(|context| keymap.list(*context));
    let bound: BTreeSet<(String, String)> = lists
        .flat_map(|(action, keys)| keys.into_iter().map(move |key| (key, action.name().to_owned())))
        .collect();
    let text = include_str!("../../docs/console.md");
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut rows = 0;
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.trim_matches('|').split(" | ");
        let (keys, actions) =
            (quoted(cells.next().unwrap_or_default()), quoted(cells.next().unwrap_or_default()));
        assert!(!actions.is_empty(), "{row}");
        for (at, key) in keys.iter().enumerate() {
            let action = actions.get(at).unwrap_or(&actions[0]);
            assert!(bound.contains(&(key.clone(), action.clone())), "{key} is not {action}: {row}");
        }
        rows += 1;
    }
    assert!(rows > 30, "{rows}");
}
