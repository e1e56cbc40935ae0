//! The size of the whole, measured, and the ceiling of each measure. A commit that raises a ceiling says in its body
//! which requirement needs it; one that falls well below a ceiling lowers it.

use std::collections::BTreeMap;
use std::fs;

use super::measures::{largest_cycle, shared_names};
use super::{files_below, root, sources};

/// The ceilings: the name of a measure, and the most that it may be.
const CEILINGS: &[(&str, usize)] = &[
    ("actions", 149),
    ("commands", 67),
    ("files in the largest import cycle", 5),
    ("functions named by a participle or pronoun alone", 2),
    ("functions over 60 lines", 8),
    ("places that match every act", 1),
    ("settings", 59),
    // Counted by `.ci/run`.
    ("tests that start the program", 407),
    ("tokens in agent", 54_621),
    ("tokens in agents", 20_535),
    ("tokens in all", 1_278_000),
    ("tokens in bin", 36),
    ("tokens in cli", 49_659),
    ("tokens in clock", 295),
    ("tokens in config", 15_282),
    ("tokens in consequence", 70_683),
    ("tokens in console", 309_192),
    ("tokens in dispatch", 94_217),
    ("tokens in envelope", 23_804),
    ("tokens in files", 4_207),
    ("tokens in fuzz", 39),
    ("tokens in journal", 20_262),
    ("tokens in ledger", 29_159),
    ("tokens in lib", 107),
    ("tokens in link", 63_167),
    ("tokens in main", 36),
    ("tokens in model", 39_126),
    ("tokens in paths", 1_743),
    ("tokens in process", 74_586),
    ("tokens in prose", 122_401),
    ("tokens in runtime", 161_791),
    ("tokens in terminal", 67_035),
    ("tokens in tools", 56_017),
    ("types of a thousand that share their name", 11),
    ("ways to change what others read", 11),
    ("words of documentation", 64_697),
];

/// A function: its name, and the lines of its body.
type Function<'a> = (&'a str, usize);

/// Returns code without comments and without the contents of strings and characters. Line ends stay.
fn bare(code: &str) -> String {
    let mut bare = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let skipped = literal(rest, bare.chars().next_back());
        if skipped == 0 {
            bare.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        bare.push(' ');
        bare.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
        rest = &rest[skipped..];
    }
    bare
}

/// Returns the length in bytes of the comment, string or character that code begins with; 0 if it begins with none.
fn literal(code: &str, before: Option<char>) -> usize {
    let to = |end: &str, from: usize| code[from..].find(end).map_or(code.len(), |at| from + at + end.len());
    if code.starts_with("//") {
        return code.find('\n').unwrap_or(code.len());
    }
    if code.starts_with("/*") {
        return to("*/", 2);
    }
    if let Some(string) = code.strip_prefix('"') {
        let mut is_escaped = false;
        let end = string.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        return end.map_or(code.len(), |at| at + 2);
    }
    if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        let raw = code.trim_start_matches(['b', 'c']);
        if let Some(marked) = raw.strip_prefix('r') {
            let hashes = marked.len() - marked.trim_start_matches('#').len();
            if marked[hashes..].starts_with('"') && code.len() - raw.len() < 2 {
                return to(&format!("\"{}", "#".repeat(hashes)), code.len() - marked.len() + hashes + 1);
            }
        }
    }
    let mut letters = code.char_indices();
    match (letters.next(), letters.next(), letters.next()) {
        (Some((_, '\'')), Some((_, '\\')), Some((at, letter))) => to("'", at + letter.len_utf8()),
        (Some((_, '\'')), Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// Counts words and signs.
fn tokens(bare: &str) -> usize {
    let mut is_in_word = false;
    let mut count = 0;
    for letter in bare.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        count += usize::from(!(letter.is_whitespace() || is_word && is_in_word));
        is_in_word = is_word;
    }
    count
}

/// Returns the functions with a body.
fn functions(bare: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for (at, _) in bare.match_indices("fn ") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if bare[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let rest = &bare[at + 3..];
        let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let Some(begin) = rest.find(['{', ';']).filter(|at| rest[*at..].starts_with('{')) else { continue };
        let mut depth = 0_i32;
        let body = rest[begin..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        if let (false, Some(length)) = (name.is_empty(), body) {
            found.push((
                name,
                rest[begin..begin + length].trim_matches(['{', ' ', '\n']).lines().count().max(1),
            ));
        }
    }
    found
}

/// Tells whether a name is a participle or a pronoun alone, which says neither what is done nor what is returned.
fn is_bare(name: &str) -> bool {
    const IRREGULAR: [&str; 47] = [
        "told", "shown", "said", "seen", "held", "given", "taken", "known", "made", "done", "gone", "left",
        "kept", "sent", "found", "begun", "heard", "meant", "written", "drawn", "chosen", "hidden", "spoken",
        "driven", "broken", "lost", "paid", "built", "bound", "brought", "caught", "stands", "standing",
        "who", "whose", "what", "which", "it", "they", "those", "these", "whoever", "all", "other", "others",
        "both", "each",
    ];
    const NOUNS: [&str; 9] = ["need", "feed", "seed", "speed", "bed", "shed", "embed", "proceed", "exceed"];
    !name.contains('_') && (IRREGULAR.contains(&name) || name.ends_with("ed") && !NOUNS.contains(&name))
}

/// The words of the documentation, without the pages that a command writes.
fn words_of_documentation() -> usize {
    let generated =
        ["reference/cli.md", "reference/prose-codes.md", "reference/figures.md", "reference/prompts.md"];
    let pages = files_below(&root().join("docs"), "md");
    let own = pages.into_iter().filter(|page| !generated.iter().any(|made| page.ends_with(made)));
    let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name));
    own.chain(top).map(|page| fs::read_to_string(page).expect("a page").split_whitespace().count()).sum()
}

/// The keys of the settings, of which each may be set by itself.
fn settings(schema: &serde_json::Value, at: &serde_json::Value) -> usize {
    let followed = match at["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        Some(name) => &schema["$defs"][name],
        None => at,
    };
    match followed["properties"].as_object() {
        Some(keys) => keys.values().map(|key| settings(schema, key)).sum(),
        None => 1,
    }
}

/// The files that name nearly all variants of what may be asked of a runtime.
fn places_that_match_every_act(sources: &BTreeMap<String, String>) -> usize {
    let protocol = bare(&sources["link/protocol.rs"]);
    let (_, after) = protocol.split_once("pub enum Act {").expect("the acts");
    let body = &after[..after.find("\n}").expect("its end")];
    let name = |line: &str| {
        let line = line.strip_prefix("    ")?;
        let length = line.find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len());
        line.starts_with(|c: char| c.is_uppercase()).then(|| line[..length].to_owned())
    };
    let acts: Vec<String> = body.lines().filter_map(name).collect();
    assert!(acts.len() > 20, "{acts:?}");
    let matches = |code: &&String| {
        let named = acts.iter().filter(|act| code.contains(&format!("Act::{act}")));
        named.count() * 10 >= acts.len() * 9
    };
    sources.values().filter(matches).count()
}

/// Takes all measures.
fn measures() -> BTreeMap<String, usize> {
    let sources = sources();
    let is_product = |file: &str| !file.split(['/', '.']).any(|part| part.ends_with("tests"));
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |name: String, count: usize| *found.entry(name).or_default() += count;
    for (file, code) in sources.iter().filter(|(file, _)| is_product(file)) {
        let code = bare(code);
        let room = file.split(['/', '.']).next().unwrap_or_default();
        add(format!("tokens in {room}"), tokens(&code));
        add("tokens in all".to_owned(), tokens(&code));
        let functions = functions(&code);
        add("functions over 60 lines".to_owned(), functions.iter().filter(|(_, lines)| *lines > 60).count());
        add(
            "functions named by a participle or pronoun alone".to_owned(),
            functions.iter().filter(|(name, _)| is_bare(name)).count(),
        );
        let is_console = file.starts_with("console/") && !file.starts_with("console/app/");
        let ways = ["&mut State,", "&mut State)", "RefCell<", "Cell<", "Mutex<", "RwLock<", "dyn FnMut"];
        let count = ways.iter().map(|way| code.matches(way).count()).sum();
        add("ways to change what others read".to_owned(), if is_console { count } else { 0 });
    }
    let product = sources.iter().filter(|(file, _)| is_product(file)).map(|(_, code)| code.as_str());
    add("types of a thousand that share their name".to_owned(), shared_names(product));
    add("files in the largest import cycle".to_owned(), largest_cycle().len());
    add("places that match every act".to_owned(), places_that_match_every_act(&sources));
    add("words of documentation".to_owned(), words_of_documentation());
    add("actions".to_owned(), pilothouse::console::keys::action::Action::ALL.len());
    add("commands".to_owned(), pilothouse::dispatch::COMMANDS.len());
    let schema = root().join("docs/reference/config.schema.json");
    let schema: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("the schema")).expect("JSON");
    add("settings".to_owned(), settings(&schema, &schema));
    found
}

#[test]
fn no_measure_is_above_its_ceiling() {
    let measures = measures();
    let ceilings: BTreeMap<&str, usize> = CEILINGS.iter().copied().collect();
    let is_above =
        |(name, count): &(&String, &usize)| ceilings.get(name.as_str()).is_none_or(|most| most < *count);
    let above: Vec<_> = measures.iter().filter(is_above).collect();
    assert!(above.is_empty(), "above their ceilings, or without one: {above:#?}");
}

/// Prints what `.ci/run` shows.
#[test]
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn the_measures_are_printed() {
    let ceilings: BTreeMap<&str, usize> = CEILINGS.iter().copied().collect();
    for (name, count) in measures() {
        let most = ceilings.get(name.as_str()).copied().unwrap_or_default();
        println!("{count:>9} {name} (at most {most})");
    }
}

#[test]
fn a_measure_counts_what_it_names() {
    let code =
        "fn told() { let a = \"}//\"; } // x {\nfn b<'a>(c: &'a str) -> char {\n    '}'\n}\n/* fn c() {} */";
    assert_eq!(functions(&bare(code)), [("told", 1), ("b", 1)], "{}", bare(code));
    assert_eq!(tokens("a_b.c( d)"), 6);
    assert_eq!(tokens(&bare("x = r#\"a \" b\"#; // y")), 3);
    assert!(
        is_bare("told") && is_bare("quoted") && !is_bare("feed") && !is_bare("is_told") && !is_bare("tell")
    );
}
