//! Characters and attributes, one sample per row: what a terminal makes of each.

use super::session::{Session, Stage};

/// Text in several scripts and forms. The bar after each sample shows how many columns it took.
pub(super) const UNICODE: [(&str, &str); 42] = [
    ("latin", "Zürich, naïve, Ærø"),
    ("combining", "e\u{301} n\u{303} a\u{30A}\u{301} c\u{327}"),
    ("many marks", "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}x"),
    ("mark first", "\u{301}x"),
    ("greek and cyrillic", "Ελλάδα Україна"),
    ("han", "港灣 漢字"),
    ("kana", "みなと ミナト ﾐﾅﾄ"),
    ("half-width marks", "ｶﾞﾊﾟ"),
    ("hangul", "항구"),
    ("hangul jamo", "\u{1112}\u{1161}\u{11BC}"),
    ("full-width", "ＡＢＣ１２３！"),
    ("arabic", "ميناء"),
    ("hebrew", "נמל"),
    ("devanagari", "नमस्ते"),
    ("thai", "ท่าเรือ"),
    ("tamil", "துறைமுகம்"),
    ("box drawing", "┌─┬─┐│ ├─┼─┤ └─┴─┘ ═║╔╗"),
    ("blocks", "▁▂▃▄▅▆▇█ ░▒▓ ▀▐"),
    ("braille", "⠁⠃⠇⡇⣇⣿"),
    ("arrows and marks", "← → ⇒ ✓ ✗ ● ◐ ■ ▲ … · •"),
    ("powerline", "\u{E0B0}\u{E0B2}"),
    ("mathematics", "∀x∈ℝ: ∑ √ ≠ ∞ 𝔸𝕓"),
    ("emoji", "🚢 ⚓ 🌊 😀"),
    ("text emoji", "☀ ✈ ❤ ☎"),
    ("emoji presentation", "❤\u{FE0F} ✈\u{FE0F} ☀\u{FE0F}"),
    ("text presentation", "⚓\u{FE0E} ☀\u{FE0E}"),
    ("keycap", "1\u{FE0F}\u{20E3} #\u{FE0F}\u{20E3}"),
    ("skin tone", "👍🏽"),
    ("family", "👩\u{200D}👧"),
    ("profession", "👩🏽\u{200D}🚀"),
    ("rainbow flag", "🏳\u{FE0F}\u{200D}🌈"),
    ("flag", "🇩🇪"),
    ("flags", "🇩🇪🇫🇷"),
    ("flag of tags", "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}"),
    ("zero width space", "a\u{200B}b"),
    ("joiner between letters", "a\u{200D}b"),
    ("override", "abc\u{202E}def\u{202C}ghi"),
    ("isolate", "\u{2066}abc\u{2069}"),
    ("soft hyphen", "co\u{AD}op"),
    ("no-break space", "a\u{A0}b"),
    ("ideographic space", "a\u{3000}b"),
    ("byte order mark", "\u{FEFF}a"),
];

/// Bytes that are not text, and text in the last columns.
const EDGES: [(&str, &str); 10] = [
    ("tab", "a\tb\t\tc"),
    ("backspace", "abc\x08\x08X"),
    ("backspace over han", "漢\x08X"),
    ("over the first half", "漢字\x1b[24GX"),
    ("carriage return", "\x1b7abc\x1b8X"),
    ("replacement", "a\u{FFFD}b"),
    ("controls", "a\x01\x02\x7fb"),
    ("repeated", "a\x1b[5b"),
    ("line drawing", "\x1b(0lqqk x mqqj\x1b(B"),
    ("shifted out", "\x1b)0\x0elqk\x0fabc"),
];

/// Attributes and colours.
const ATTRIBUTES: [(&str, &str); 40] = [
    ("bold", "\x1b[1mx"),
    ("dim", "\x1b[2mx"),
    ("italic", "\x1b[3mx"),
    ("underline", "\x1b[4mx y"),
    ("blink", "\x1b[5mx"),
    ("inverse", "\x1b[7mx y"),
    ("hidden", "\x1b[8mx"),
    ("struck", "\x1b[9mx"),
    ("double underline", "\x1b[21mx"),
    ("overline", "\x1b[53mx"),
    ("curly underline", "\x1b[4:3mx"),
    ("underline ended", "\x1b[4:3mx\x1b[4:0my"),
    ("coloured underline", "\x1b[4;58;5;9mx"),
    ("underline colour by colons", "\x1b[4;58:2::1:2:3mx\x1b[59my"),
    ("bold and dim", "\x1b[1;2mx"),
    ("bold then dim", "\x1b[1mx\x1b[2my\x1b[22mz"),
    ("bold italic underline inverse", "\x1b[1;3;4;7mx"),
    ("all off one by one", "\x1b[1;3;4;7mx\x1b[22ma\x1b[23mb\x1b[24mc\x1b[27md"),
    ("eight colours", "\x1b[31mr\x1b[32mg\x1b[34;43mb\x1b[39;49mn"),
    ("bright colours", "\x1b[91mr\x1b[102mg\x1b[97;104mb"),
    ("bold red", "\x1b[1;31mx"),
    ("256 colours", "\x1b[38;5;208mx\x1b[48;5;17my"),
    ("low of 256", "\x1b[38;5;1mx\x1b[38;5;9my"),
    ("true colour", "\x1b[38;2;1;2;3mx\x1b[48;2;250;128;0my"),
    ("colours by colons", "\x1b[38:5:208mx\x1b[48:2::1:2:3my\x1b[38:2:4:5:6mz"),
    ("default in between", "\x1b[31;39mx\x1b[41;49my"),
    ("empty parameter", "\x1b[31;mx\x1b[;32my"),
    ("erased to the end", "\x1b[44mx\x1b[K"),
    ("erased inverse", "\x1b[7;44mx\x1b[K"),
    ("erased underlined", "\x1b[4mx\x1b[K"),
    ("erased characters", "\x1b[42mabcdef\x1b[3D\x1b[2X"),
    ("inserted", "\x1b[42mabc\x1b[45m\x1b[2D\x1b[2@"),
    ("deleted", "\x1b[42mabcdef\x1b[45m\x1b[4D\x1b[2P"),
    ("blanks printed", "\x1b[44m   \x1b[m"),
    ("tab on a background", "\x1b[44ma\tb"),
    ("saved and brought back", "\x1b[31m\x1b7\x1b[32mx\x1b8y"),
    ("inverse of colours", "\x1b[31;44;7mx"),
    ("line drawing in colour", "\x1b[35m\x1b(0lqk\x1b(B"),
    ("a link", "\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ no link"),
    ("unknown attribute", "\x1b[77;31mx"),
];

/// Shows each sample on a row of its own, one screenful at a time.
fn shown(name: &'static str, samples: &[(&str, &str)], behind: &str) -> Option<Session> {
    let stage = Stage::with(name, &[])?;
    let pages: Vec<_> = samples.chunks(20).collect();
    let mut names = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let rows: String =
            page.iter().map(|(name, sample)| format!("{name}: {sample}{behind}\x1b[m\r\n")).collect();
        std::fs::write(stage.workspace().join(format!("page-{number}")), rows).expect("written");
        names.push(format!("page-{number}"));
    }
    let mut session = stage.run(&format!(
        "for page in {}; do printf '\\033[2J\\033[H'; cat $page; printf \"\\033]2;$page\\007\"; read next; done",
        names.join(" ")
    ));
    for (name, checkpoint) in names.iter().zip(["first page", "second page", "third page"]) {
        session.is_titled(name).checkpoint(checkpoint).types("\r");
    }
    session.ends();
    Some(session)
}

#[test]
fn unicode_looks_the_same_in_a_pane_and_in_tmux() {
    if let Some(mut session) = shown("unicode", &UNICODE, "|") {
        session.is_compared_by_samples();
    }
}

#[test]
fn attributes_look_the_same_in_a_pane_and_in_tmux() {
    if let Some(mut session) = shown("attributes", &ATTRIBUTES, "") {
        session.is_compared_by_samples();
    }
}

#[test]
fn edges_look_the_same_in_a_pane_and_in_tmux() {
    if let Some(mut session) = shown("edges", &EDGES, "|") {
        session.is_compared_by_samples();
    }
}

/// Lines and regions scrolled while a background colour is set: new rows have it.
#[test]
fn scrolling_with_a_background_looks_the_same_in_a_pane_and_in_tmux() {
    pages(
        "background",
        &[
            ("at the bottom", r"\033[24;1Hbottom\033[44m\n\n\nscrolled"),
            ("in a region", r"\033[2;6r\033[6;1H\033[42mregion\n\nscrolled"),
            ("down", r"\033[44mtop\033[H\033M\033Mreverse"),
            ("down in a region", r"\033[44m\033[3;9rtop\033[3;1H\033M\033Mreverse"),
            ("wrapped", r"\033[24;75H\033[44m0123456789abcdef"),
            ("index", r"\033[24;1H\033[44mx\033D\033Ey"),
            ("lines inserted", r"one\r\ntwo\r\nthree\033[2;1H\033[45m\033[2Linserted"),
            ("lines deleted", r"one\r\ntwo\r\nthree\033[1;1H\033[45m\033[1Mdeleted"),
            ("many inserted", r"one\r\ntwo\r\nthree\033[2;1H\033[45m\033[99Linserted"),
            ("by a count", r"one\r\ntwo\033[46m\033[2Sscrolled"),
            ("down by a count", r"one\r\ntwo\033[46m\033[2Tscrolled"),
            ("erased", r"\033[41m\033[2Jerased"),
            ("erased before", r"\033[41mabc\033[5;5H\033[1Jerased"),
            ("on the alternate screen", r"\033[?1049h\033[43m\033[2Jalternate"),
            ("back", r"\033[?1049lprimary"),
        ],
    );
}

/// Lines as long as the screen is wide, and longer: where the cursor waits and where the text continues.
#[test]
fn the_right_margin_looks_the_same_in_a_pane_and_in_tmux() {
    let row = "0".repeat(79);
    let samples = [
        ("full", "1"),
        ("wraps", "12"),
        ("wide", "漢"),
        ("back", r"1\010X"),
        ("erased", r"1\033[KX"),
        ("tabbed", r"1\tX"),
        ("up", r"1\033[AX"),
        ("left", r"1\033[DX"),
        ("marked", "e\u{301}X"),
        ("unwrapped", r"\033[?7l123"),
        ("inserting", r"\033[2;5H\033[4hXYZ"),
        ("saved", r"1\0337\033[5;5H\0338X"),
        ("character erased", r"1\033[XY"),
        ("deleted", r"1\033[PX"),
        ("inserted", r"1\033[@X"),
        ("line fed", r"1\nX"),
        ("returned", r"1\rX"),
        ("coloured", r"1\033[31mX"),
        ("moved in place", r"1\033[80GX"),
        ("row chosen", r"1\033[4dX"),
    ];
    let samples = samples.map(|(name, end)| (name, format!(r"\033[2;1H{row}{end}")));
    pages("margin", &samples.each_ref().map(|(name, sample)| (*name, sample.as_str())));
}

/// Shows each sample, written by `printf`, on a screen of its own.
fn pages(name: &'static str, samples: &[(&'static str, &str)]) {
    let Some(stage) = Stage::with(name, &[]) else { return };
    let plain = r"\033[?7h\033[4l\033[m\033[r\033[2J\033[H";
    let shows = samples
        .iter()
        .map(|(name, sample)| format!("printf '{plain}{sample}\\033]2;{name}\\007'; read next\n"));
    let mut session = stage.run(&shows.collect::<String>());
    for (name, _) in samples {
        session.is_titled(name).checkpoint(name).types("\r");
    }
    session.is_compared();
}
