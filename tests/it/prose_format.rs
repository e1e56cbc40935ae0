//! The canonical form of real programs, and of programs with a typo in them.

use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;

use pilothouse::prose::{Profile, SourceText, check, format};

/// Programs of the corpora, and of the folder that this variable names.
const MORE: &str = "PILOTHOUSE_PROSE_CORPUS";

static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/corpus/prose", "tests/fuzz/corpus/prose"].map(|folder| root.join(folder));
    let more = std::env::var_os(MORE).map(PathBuf::from);
    let mut files: Vec<PathBuf> = folders
        .into_iter()
        .chain(more)
        .flat_map(|folder| std::fs::read_dir(folder).expect("a corpus").flatten())
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .filter(|text| text.len() < 40_000)
        .collect()
});

/// A typo, at a position given in thousandths of the lines or characters.
#[derive(Debug, Clone)]
enum Slip {
    LineGone(usize),
    LineTwice(usize),
    LinesSwapped(usize),
    Indented(usize, usize),
    Undented(usize, usize),
    LinesJoined(usize),
    LineBroken(usize),
    LetterGone(usize),
    Inserted(usize, &'static str),
}

const PIECES: [&str; 16] = [
    "\n",
    " ",
    "  ",
    "\"",
    "\"\"\"",
    "#",
    " # why\n",
    ":",
    "->",
    " | ",
    "(",
    ")",
    "[",
    "{",
    "**",
    "\n-> session \"x\"\n",
];

fn slip() -> impl Strategy<Value = Slip> {
    let at = 0_usize..1_000;
    prop_oneof![
        at.clone().prop_map(Slip::LineGone),
        at.clone().prop_map(Slip::LineTwice),
        at.clone().prop_map(Slip::LinesSwapped),
        (at.clone(), 1_usize..5).prop_map(|(at, by)| Slip::Indented(at, by)),
        (at.clone(), 1_usize..5).prop_map(|(at, by)| Slip::Undented(at, by)),
        at.clone().prop_map(Slip::LinesJoined),
        at.clone().prop_map(Slip::LineBroken),
        at.clone().prop_map(Slip::LetterGone),
        (at, prop::sample::select(PIECES.to_vec())).prop_map(|(at, piece)| Slip::Inserted(at, piece)),
    ]
}

fn slipped(text: &str, slip: &Slip) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let place = |at: usize, of: usize| at * of / 1_000;
    let boundary = |at: usize| {
        let place = place(at, text.len());
        (place..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    match slip {
        Slip::LineGone(at) => drop(lines.remove(place(*at, lines.len()))),
        Slip::LineTwice(at) => {
            let at = place(*at, lines.len());
            lines.insert(at, lines[at].clone());
        }
        Slip::LinesSwapped(at) => {
            let at = place(*at, lines.len());
            let next = (at + 1) % lines.len();
            lines.swap(at, next);
        }
        Slip::Indented(at, by) => {
            let at = place(*at, lines.len());
            lines[at].insert_str(0, &" ".repeat(*by));
        }
        Slip::Undented(at, by) => {
            let at = place(*at, lines.len());
            let spaces = lines[at].len() - lines[at].trim_start_matches(' ').len();
            lines[at].drain(..spaces.min(*by));
        }
        Slip::LinesJoined(at) => {
            let at = place(*at, lines.len());
            if at + 1 < lines.len() {
                let next = lines.remove(at + 1);
                lines[at].push_str(&next);
            }
        }
        Slip::LineBroken(at) => {
            let at = boundary(*at);
            return format!("{}\n{}", &text[..at], &text[at..]);
        }
        Slip::LetterGone(at) => {
            let at = boundary(*at);
            let rest = text[at..].chars().next().map_or(at, |letter| at + letter.len_utf8());
            return format!("{}{}", &text[..at], &text[rest..]);
        }
        Slip::Inserted(at, piece) => {
            let at = boundary(*at);
            return format!("{}{piece}{}", &text[..at], &text[at..]);
        }
    }
    lines.join("\n")
}

/// The diagnostics of a program, without their positions.
fn said(source: &SourceText) -> Vec<String> {
    let of = |profile| check(source, profile).diagnostics;
    let all = [Profile::Compat, Profile::Strict].into_iter().flat_map(of);
    all.map(|one| format!("{} {}", one.code, one.message)).collect()
}

/// The text without any whitespace.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

fn holds(text: &str) {
    let source = SourceText::new("t.prose", text).expect("short");
    let Ok(canonical) = format(&source) else { return };
    let again = SourceText::new("t.prose", &canonical).expect("short");
    assert_eq!(said(&source), said(&again), "said of:\n{text}\n-- and of\n{canonical}");
    assert_eq!(format(&again).as_deref(), Ok(&*canonical), "not stable:\n{text}\n--\n{canonical}");
    assert_eq!(letters(text), letters(&canonical), "not all of:\n{text}\n--\n{canonical}");
}

fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { 20_000 } else { 400 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn formatting_real_programs_keeps_their_diagnostics() {
    assert!(PROGRAMS.len() > 10);
    PROGRAMS.iter().for_each(|text| holds(text));
}

#[test]
fn a_string_that_is_not_closed_keeps_its_text() {
    holds("use \"#a b\nuse \"#a b\n");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn formatting_programs_with_typos_keeps_their_diagnostics(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..5),
    ) {
        let text = which.get(&PROGRAMS).clone();
        holds(&slips.iter().fold(text, |text, slip| slipped(&text, slip)));
    }
}
