//! The canonical form of small programs.

use crate::{SourceText, format};

fn formatted(text: &str) -> String {
    format(&SourceText::new("t.prose", text).expect("short")).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[track_caller]
fn becomes(text: &str, canonical: &str) {
    assert_eq!(formatted(text), canonical);
    assert_eq!(formatted(canonical), canonical, "the canonical form changes again");
}

#[test]
fn spaces_and_depth_are_made_alike() {
    becomes(
        "let   a=exec   \"x\"\nif **it is so** :\n      exec \"y\"\n",
        "let a = exec \"x\"\nif **it is so**:\n  exec \"y\"\n",
    );
    becomes(
        "parallel( \"any\" ,count:2 ):\n   x=exec \"1\"\n",
        "parallel (\"any\", count: 2):\n  x = exec \"1\"\n",
    );
    becomes("do  f ( a,b )\n", "do f(a, b)\n");
    becomes("session \"a\"->session \"b\"\n", "session \"a\" -> session \"b\"\n");
}

#[test]
fn an_arrow_after_properties_does_not_belong_to_them() {
    let three = "session \"a\"\n  model: opus\n-> session \"b\"\n  model: opus\n-> session \"c\"\n";
    becomes(three, three);
    becomes(&three.replace("\n->", "\n ->").replace("\n  model", "\n    model"), three);
    let inner = "let x = session \"a\"\n  -> session \"b\"\n    model: opus\n  -> session \"c\"\n";
    becomes(inner, inner);
    becomes(
        &inner.replace("\n  ->", "\n->"),
        "let x = session \"a\"\n  -> session \"b\"\n    model: opus\n  -> session \"c\"\n",
    );
}

#[test]
fn comments_stay_with_what_they_stand_at() {
    becomes(
        "agent r:\n      # inside\n      model: opus # which\n# outside\nsession: r\n",
        "agent r:\n  # inside\n  model: opus  # which\n# outside\nsession: r\n",
    );
    becomes("do:\n    exec \"a\"\n    # last\n", "do:\n  exec \"a\"\n  # last\n");
    becomes("# only\n\n\n\n# comments", "# only\n\n# comments\n");
}

#[test]
fn lists_keep_their_lines() {
    becomes(
        "let b = [ \"x\" ,\"y\",\n      \"z\"  # last\n   # end\n ]\n",
        "let b = [\"x\", \"y\",\n  \"z\"  # last\n  # end\n]\n",
    );
}

#[test]
fn stages_on_lines_of_their_own_stand_deeper() {
    let canonical = "let p = b\n  | filter:\n    session \"yes?\"\n  | map:\n    session \"more\"\n";
    becomes(
        "let p = b\n     | filter:\n           session \"yes?\"\n     | map:\n           session \"more\"\n",
        canonical,
    );
    let inline = "let q = b | filter:\n  session \"a\"\n| map:\n  session \"b\"\n";
    becomes(inline, inline);
}

#[test]
fn strings_are_not_touched_but_for_the_ends_of_their_lines() {
    becomes("exec \"\"\"\r\n  a  \r\n\tb\r\n\"\"\"\r\n", "exec \"\"\"\n  a  \n\tb\n\"\"\"\n");
}

#[test]
fn a_text_with_syntax_errors_is_not_formatted() {
    let source = SourceText::new("t.prose", "if **it is so**\n  exec \"y\"\n").expect("short");
    assert!(format(&source).is_err());
    // A program with mere errors of meaning is formatted.
    becomes("exec  \"{nope}\"\n", "exec \"{nope}\"\n");
}

#[test]
fn an_empty_program_is_formatted_as_an_empty_text() {
    becomes("", "");
    becomes("\n\n   \n", "");
}
