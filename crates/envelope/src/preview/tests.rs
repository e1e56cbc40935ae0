//! Previews of random texts: never too long, never torn, and true to the text at both ends.

use proptest::prelude::*;

use super::*;

fn whole(text: &str) -> StreamText {
    StreamText::Whole(text.to_owned())
}

fn cut_both(
    a: &StreamText,
    b: &StreamText,
    budget: impl Into<PreviewBudget>,
) -> (Option<Preview>, Option<Preview>) {
    let read_on = ReadOn::default();
    cut_pair((a, &read_on), (b, &read_on), budget)
}

fn cut_again(preview: &str, budget: usize) -> String {
    recut(preview, budget, &ReadOn::default())
}

fn by(with: &str) -> ReadOn {
    ReadOn { with: Some(with.to_owned()), from_line: None }
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_blank_stream_has_no_preview() {
    for blank in ["", "\n", " \t\r\n "] {
        assert_eq!(cut(&whole(blank), 1000), None);
    }
}

#[test]
fn a_text_within_the_budget_is_shown_as_it_is() {
    for text in ["shell", "a\n", "  indented\n\n", "é\u{1F600}\n"] {
        assert_eq!(cut(&whole(text), 32_000), Some(Preview { text: text.into(), truncated: false }));
    }
}

#[test]
fn the_marker_counts_the_lines_that_are_shown() {
    let shown = cut(&whole(&numbered(100)), 200).unwrap();
    assert!(shown.truncated);
    assert_eq!(
        shown.text,
        "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n\
         ...\n[output truncated: showing first 8 and last 8 of 100 lines]\n...\n\
         line 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99\nline 100\n"
    );
}

#[test]
fn the_marker_says_how_to_read_on_and_keeps_it_when_it_is_cut_again() {
    let read_on = ReadOn { from_line: Some(41), ..by("task_4k2m9x7q stream=stderr") };
    let shown = cut_with(&whole(&numbered(1000)), 900, &read_on).unwrap().text;
    let says = " of 1000 lines from line 41; read on: TaskOutput task_4k2m9x7q stream=stderr lines|match]\n";
    assert!(shown.contains(says), "{shown}");
    let again = cut_again(&shown, 400);
    assert!(again.contains(says) && again.chars().count() <= 400, "{again}");
    let first = recut(&numbered(1000), 400, &by("task_4k2m9x7q"));
    assert!(first.contains(" of 1000 lines; read on: TaskOutput task_4k2m9x7q lines|match]\n"), "{first}");
}

#[test]
fn markers_of_older_recordings_are_read_and_invented_ones_are_not() {
    let old = |says: &str| format!("a\nb\n...\n[output truncated: showing first {says}]\n...\nz\n");
    for says in ["2 and last 1 lines", "4 and last 2 characters", "2 and last 1 of 70 lines"] {
        assert_eq!(ends(&old(says)), Some(("a\nb\n", "z\n")), "{says}");
    }
    for says in [
        "3 and last 1 lines",
        "2 and last 1 of many lines",
        "2 and last 1 lines; read on: TaskOutput /etc/passwd lines|match",
        "2 and last 1 lines; read on: TaskOutput task_0123456789012345678901234567890123456789 lines|match",
    ] {
        assert_eq!(ends(&old(says)), None, "{says}");
    }
}

#[test]
fn one_endless_line_is_cut_inside_and_counted_in_characters() {
    let shown = cut(&whole(&"x".repeat(9000)), 400).unwrap().text;
    let (head, tail) = ends(&shown).unwrap();
    let expected = format!(
        "...\n[output truncated: showing first {} and last {} of 9000 characters]\n...\n",
        head.len(),
        tail.len()
    );
    assert!(shown.contains(&expected), "{shown}");
    assert!(head.len() > 100 && tail.len() > 100 && shown.chars().count() <= 400, "{shown}");
}

#[test]
fn an_endless_line_in_the_middle_does_not_leave_the_budget_empty() {
    let text = format!("first\n{}\nlast\n", "x".repeat(9000));
    let shown = cut(&whole(&text), 1000).unwrap().text;
    assert!(shown.chars().count() > 900, "{shown}");
    assert!(shown.starts_with("first\nxxx") && shown.ends_with("xxx\nlast\n"), "{shown}");
}

#[test]
fn a_small_budget_gives_a_beginning_marked_as_cut() {
    let shown = cut(&whole(&numbered(100)), 199).unwrap();
    assert_eq!((shown.text.chars().count(), shown.truncated), (199, true));
    let shown = shown.text.strip_suffix(CUT).expect("the mark");
    assert!(numbered(100).starts_with(shown));
}

#[test]
fn a_json_document_is_laid_out_before_it_is_cut() {
    let long = serde_json::to_string(&(0..500).collect::<Vec<_>>()).unwrap();
    let shown = cut(&whole(&long), 400).unwrap();
    assert!(shown.text.starts_with(&format!("{LAID_OUT}\n[\n  0,\n  1,\n")), "{}", shown.text);
    assert!(shown.text.ends_with("  499\n]"), "{}", shown.text);
    for budget in 0..2_000 {
        let shown = cut(&whole(&long), budget).unwrap();
        assert!(shown.text.chars().count() <= budget, "{budget}: {}", shown.text);
        assert!(budget < SMALLEST_MARKED || ends(&shown.text).is_some(), "{budget}: {}", shown.text);
    }
    for as_printed in ["{\"a\":[1,2]}\n".to_owned(), long.replace("250,", "250,\n")] {
        assert_eq!(cut(&whole(&as_printed), 4_000).unwrap().text, as_printed);
    }
}

#[test]
fn a_text_known_by_its_ends_is_always_marked() {
    let text = StreamText::Ends {
        head: "a\nb\npart".into(),
        tail: "ial\ny\nz\n".into(),
        lines: Some(9),
        chars: Some(99),
    };
    assert_eq!(
        cut(&text, 1000).unwrap().text,
        "a\nb\n...\n[output truncated: showing first 2 and last 2 of 9 lines]\n...\ny\nz\n"
    );
}

#[test]
fn a_stream_takes_what_the_other_leaves() {
    assert_eq!(split_budget(10, 500, 200), (10, 190));
    assert_eq!(split_budget(500, 10, 200), (190, 10));
    assert_eq!(split_budget(500, 500, 201), (100, 101));
    assert_eq!(split_budget(0, 500, 200), (0, 200));
}

#[test]
fn two_streams_over_a_small_budget_are_both_cut() {
    let (out, err) = (whole(&"o".repeat(120)), whole(&"e".repeat(120)));
    let (out, err) = cut_both(&out, &err, PreviewBudget::of_tokens(Some(50)));
    assert_eq!(out, Some(Preview { text: format!("{}[…]", "o".repeat(97)), truncated: true }));
    assert_eq!(err, Some(Preview { text: format!("{}[…]", "e".repeat(97)), truncated: true }));
}

#[test]
fn what_fits_is_whole_and_longer_output_is_cut_to_a_quarter_of_that_unless_tokens_are_asked_for() {
    let budget = |whole, cut| PreviewBudget { whole, cut };
    for (asked, expected) in [
        (None, budget(32_000, 8_000)),
        (Some(0), budget(32_000, 8_000)),
        (Some(1), budget(4, 4)),
        (Some(50), budget(200, 200)),
        (Some(u64::MAX), budget(256_000, 256_000)),
    ] {
        assert_eq!(PreviewBudget::of_tokens(asked), expected);
    }
    let usual = PreviewBudget::of_tokens(None);
    let shown = |text: &str| cut(&whole(text), usual).expect("not blank").text.chars().count();
    assert_eq!(shown(&"x".repeat(32_000)), 32_000);
    assert!((7_900..=8_000).contains(&shown(&"x".repeat(32_001))));
    let read_on = ReadOn::default();
    let both = |a: usize, b: usize| {
        let (a, b) = (whole(&"a".repeat(a)), whole(&"b".repeat(b)));
        let (a, b) = cut_pair((&a, &read_on), (&b, &read_on), usual);
        [a, b].map(|shown| shown.expect("not blank").text.chars().count())
    };
    assert_eq!(both(30_000, 2_000), [30_000, 2_000]);
    assert_eq!(both(100, 40_000)[0], 100);
    assert!(both(100, 40_000)[1] <= 7_900);
}

#[test]
fn a_preview_cut_again_keeps_true_counts() {
    let shown = cut(&whole(&numbered(1000)), 1000).unwrap().text;
    let again = cut_again(&shown, 300);
    assert!(again.chars().count() <= 300);
    let (head, tail) = ends(&again).unwrap();
    assert!(numbered(1000).starts_with(head) && numbered(1000).ends_with(tail), "{again}");
    assert_eq!(again.matches("[output truncated").count(), 1);
    assert_eq!(cut_again(&again, 300), again);
}

fn stream() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{0,900}",
        prop::collection::vec("[a-zé\u{1F600} ]{0,60}", 0..60).prop_map(|lines| lines.join("\n")),
        ("[a-c\n]{0,40}", 0_usize..2000, "[a-c\n]{0,40}")
            .prop_map(|(start, run, end)| format!("{start}{}{end}", "x".repeat(run))),
    ]
}

proptest! {
    #[test]
    fn a_preview_fits_and_shows_true_ends(text in stream(), budget in 0_usize..1200) {
        let Some(preview) = cut(&whole(&text), budget) else {
            prop_assert!(text.trim().is_empty());
            return Ok(());
        };
        let original = laid_out(&text).map_or(text.clone(), |laid_out| format!("{LAID_OUT}\n{laid_out}"));
        prop_assert!(preview.text.chars().count() <= budget);
        prop_assert_eq!(preview.truncated, original.chars().count() > budget);
        if !preview.truncated {
            prop_assert_eq!(&preview.text, &original);
            prop_assert_eq!(cut(&whole(&preview.text), budget), Some(preview));
        } else if budget < SMALLEST_MARKED {
            prop_assert!(original.starts_with(preview.text.trim_end_matches(CUT)));
            prop_assert!(budget < 3 || preview.text.ends_with(CUT));
        } else {
            let (head, tail) = ends(&preview.text).expect("a marker");
            prop_assert!(original.starts_with(head) && original.ends_with(tail));
            prop_assert!(head.len() + tail.len() < original.len());
        }
    }

    #[test]
    fn a_document_is_cut_as_its_layout_would_be(long in "[a-z]{0,900}", many in prop::collection::vec(0..1_000_u32, 0..90), at in 0..90_usize, budget in 200_usize..1200) {
        let mut items: Vec<serde_json::Value> = many.into_iter().map(Into::into).collect();
        items.insert(at.min(items.len()), long.into());
        let printed = serde_json::Value::from(items).to_string();
        let laid_out = laid_out(&printed);
        let cut = cut(&whole(&printed), budget).expect("not blank");
        let read_on = ReadOn::default();
        let text = laid_out.map_or(ShownText::All(printed.into()), ShownText::LaidOut);
        let expected = Readable { text, read_on: &read_on }.cut(budget.into());
        prop_assert_eq!(cut, expected);
    }

    #[test]
    fn two_previews_share_one_budget(a in stream(), b in stream(), budget in 0_usize..1200) {
        let (a, b) = cut_both(&whole(&a), &whole(&b), budget);
        let length = |preview: Option<Preview>| preview.map_or(0, |preview| preview.text.chars().count());
        prop_assert!(length(a) + length(b) <= budget);
    }

    #[test]
    fn a_preview_cut_again_fits(text in stream(), budget in 200_usize..1200, less in 200_usize..1200) {
        let Some(preview) = cut(&whole(&text), budget) else { return Ok(()) };
        let again = cut_again(&preview.text, less);
        prop_assert!(again.chars().count() <= less);
        prop_assert_eq!(cut_again(&again, less), again);
    }
}
