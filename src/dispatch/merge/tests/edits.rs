//! What a person does to a file between the adding and the removing: it stays to the byte, and only ours goes.
//!
//! The same edits are made in the file before and after the adding; what is expected is the file without ours, with the
//! edits.

use super::sample::{Change, Choices, Sample};
use super::*;

/// Where ours is.
struct OwnPart {
    /// The place in the text before of a comma that was added.
    comma: Option<usize>,
    start: usize,
    text: String,
}

impl OwnPart {
    /// Finds what was added in one place, and the comma that was added before it.
    fn find(before: &str, merged: &str, head: &str) -> Option<Self> {
        let same = before.bytes().zip(merged.bytes()).take_while(|(one, other)| one == other).count();
        let places = (0..=before.len()).filter(|start| before.is_char_boundary(*start));
        let all = places.flat_map(|start| [None, Some(same.min(start))].map(|comma| (start, comma)));
        let found = all.filter_map(|(start, comma)| {
            let commas = usize::from(comma.is_some());
            let length = merged.len().checked_sub(before.len() + commas)?;
            let text = merged.get(start + commas..start + commas + length)?.to_owned();
            let ours = Self { comma, start, text };
            let is_whole = ours.text.trim_start().starts_with(head)
                && "{[".chars().map(|c| ours.text.matches(c).count()).sum::<usize>()
                    == "}]".chars().map(|c| ours.text.matches(c).count()).sum::<usize>();
            (is_whole && ours.merged(before, &[]) == merged).then_some(ours)
        });
        let mut found: Vec<Self> = found.collect();
        // Where it has a comma of its own, none was added before it.
        if found.iter().any(|ours| ours.comma.is_none()) {
            found.retain(|ours| ours.comma.is_none());
        }
        let lines = found.iter().rposition(|ours| ours.is_lines(before));
        (!found.is_empty()).then(|| found.remove(lines.unwrap_or(0)))
    }

    /// Returns whether it is lines of its own.
    fn is_lines(&self, before: &str) -> bool {
        self.text.ends_with('\n') && (self.start == 0 || before[..self.start].ends_with('\n'))
    }

    /// Returns whether it is what was added to `{}`.
    fn is_frame(&self) -> bool {
        self.text.starts_with(['\n', '\r']) && self.text.trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// Returns the text with ours and with changes.
    fn merged(&self, before: &str, changes: &[Change]) -> String {
        let is_after = |change: &Change, place: usize| {
            change.range.start > place
                || change.range.start == place
                    && (!change.range.is_empty() || change.is_after && place == self.start)
        };
        let (mut text, mut from) = (String::new(), 0);
        let (mut comma, mut ours) = (self.comma, Some(self.start));
        let mut copy = |text: &mut String, to: usize, change: Option<&Change>| {
            let is_due = |place: &mut usize| change.is_none_or(|change| is_after(change, *place));
            for (place, new) in [(&mut comma, ","), (&mut ours, &*self.text)] {
                if let Some(place) = place.take_if(is_due) {
                    text.push_str(&before[from..place]);
                    text.push_str(new);
                    from = place;
                }
            }
            text.push_str(&before[from..to]);
            from = change.map_or(to, |change| change.range.end);
        };
        for change in changes {
            copy(&mut text, change.range.start, Some(change));
            text.push_str(&change.new);
        }
        copy(&mut text, before.len(), None);
        text
    }

    /// Returns whether a change is so close to ours that blanks and line ends of ours may stay.
    fn is_touched(&self, format: Format, before: &str, change: &Change) -> bool {
        let is_beside = change.range == (self.start..self.start);
        let new = &change.new;
        is_beside
            && match format {
                // After the last line, which has no line end.
                _ if self.text.starts_with(['\n', '\r']) && !self.text.ends_with('\n') => change.is_after,
                Format::Toml => !self.is_lines(before) || !change.is_after && !new.ends_with('\n'),
                _ if self.is_frame() => true,
                _ if self.is_lines(before) => !change.is_after && !new.ends_with('\n'),
                _ => !change.is_after && new.contains('\n'),
            }
    }
}

/// What can be added, and how that begins in the text.
fn settings(format: Format, from: &mut Choices) -> (Value, &'static str) {
    let server = json!({ "pilothouse": { "command": "pilothouse", "args": ["mcp"] } });
    match (format, from.below(5)) {
        (Format::Jsonc, 0) => (json!({ "ours": true }), "\"ours\""),
        (Format::Jsonc, 1) => (json!({ "list": ["ours"] }), "\"list\""),
        (Format::Jsonc, 2) => {
            (json!({ "ours": { "Stop": [{ "hooks": [{ "type": "command" }] }], "o": {} } }), "\"ours\"")
        }
        (Format::Jsonc, _) => (json!({ "mcpServers": server }), "\"mcpServers\""),
        (Format::Toml, 0) => (json!({ "features": { "ours": false } }), "[features]"),
        (Format::Toml, 1) => (json!({ "list": ["ours"] }), "list"),
        (Format::Toml, 2) => {
            (json!({ "environments": [{ "id": "pilothouse", "ours": ["x"] }] }), "[[environments]]")
        }
        (Format::Toml, 3) => (json!({ "ours": "pilothouse" }), "ours"),
        (Format::Toml, _) => (json!({ "mcp_servers": server }), "[mcp_servers.pilothouse]"),
    }
}

/// Returns whether one text is the other with something between its characters.
fn is_within(text: &str, other: &str) -> bool {
    let mut rest = other.chars();
    text.chars().all(|c| rest.any(|other| other == c))
}

/// Adds something to a file, which an undoing removes to the byte.
fn add(format: Format, from: &mut Choices) -> Result<Option<(Sample, MergedFile, OwnPart)>, TestCaseError> {
    let (wanted, head) = settings(format, from);
    let sample = Sample::of(format, from);
    let before = &*sample.text;
    let Ok(merged) = format.add(before, &wanted) else {
        prop_assert!(format.read(before).is_ok(), "not well-formed: {before:?}");
        return Ok(None);
    };
    let back = format.remove(&merged.text, &merged.added).map(|restored| restored.text);
    prop_assert_eq!(back, Ok(before.to_owned()), "from {:?}", merged.text);
    let heads =
        [head, "{", "\"pilothouse\"", "\"ours\"", "pilothouse", "ours", "features", "{ id", "[features]"];
    let ours = heads.iter().find_map(|head| OwnPart::find(before, &merged.text, head));
    match ours {
        Some(ours) => Ok(Some((sample, merged, ours))),
        None => Err(TestCaseError::fail(format!("only inserts: {before:?} {:?}", merged.text))),
    }
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

fn check(format: Format, bytes: Vec<u8>) -> Result<(), TestCaseError> {
    let from = &mut Choices::new(bytes);
    let Some((sample, merged, ours)) = add(format, from)? else { return Ok(()) };
    let before = &*sample.text;
    let mark = from.of(&["", "", "", "\u{feff}"]);
    let mut changes = sample.changes(from);
    for change in &mut changes {
        // A comment at the end of an empty line is not one before ours.
        let is_line = change.range.start == ours.start && ours.is_lines(before);
        change.is_after |= format == Format::Toml && is_line && change.new.starts_with(" #");
    }
    let mut edited = format!("{mark}{}", ours.merged(before, &changes));
    let mut expected = before.to_owned();
    for change in changes.iter().rev() {
        expected.replace_range(change.range.clone(), &change.new);
    }
    expected.insert_str(0, mark);
    if from.below(6) == 0 {
        for text in [&mut edited, &mut expected] {
            *text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    prop_assert!(format.read(&edited).is_ok(), "still well-formed: {edited:?} {changes:?}");
    let back = format.remove(&edited, &merged.added).map(|restored| restored.text);
    let back = back.map_err(|error| TestCaseError::fail(format!("{error}: {edited:?}")))?;
    // Between empty brackets, the indentation of the closing one is ours.
    let is_frame = format == Format::Jsonc && ours.is_frame();
    if is_frame || changes.iter().any(|change| ours.is_touched(format, before, change)) {
        prop_assert_eq!(
            without_blanks(&back),
            without_blanks(&expected),
            "from {:?} by {:?}",
            edited,
            changes
        );
        // Blanks and line ends directly beside ours are those of its line, and may go with it.
        let is_blank = |change: &Change| change.new.trim().is_empty();
        let is_free = changes.iter().any(|change| change.range.contains(&ours.start) && is_blank(change))
            || changes.iter().any(|change| change.range == (ours.start..ours.start) && is_blank(change));
        let even = |text: &str| text.replace("\r\n", "\n");
        prop_assert!(
            is_free || is_within(&even(&expected), &even(&back)),
            "{expected:?} in {back:?} from {edited:?} by {changes:?}"
        );
    } else {
        prop_assert_eq!(back, expected, "from {:?} by {:?}", edited, changes);
    }
    Ok(())
}

/// Writes comments into what was added.
fn check_inside(format: Format, bytes: Vec<u8>) -> Result<(), TestCaseError> {
    let from = &mut Choices::new(bytes);
    let Some((sample, merged, mut ours)) = add(format, from)? else { return Ok(()) };
    let own = ours.text.len() - ours.text.trim_start().len()..ours.text.trim_end().len();
    let is_place = |at: &usize| {
        let rest = &ours.text[*at..];
        match format {
            Format::Jsonc => rest.starts_with(['{', '[', ',']),
            Format::Toml => rest.starts_with("\n") || rest.starts_with("[\""),
        }
    };
    let mut places: Vec<usize> = (own.start..own.end).rev().filter(is_place).collect();
    places.retain(|_| from.below(3) == 0);
    let mut written = Vec::new();
    for place in places {
        let name = from.name();
        let comment = match format {
            Format::Toml => format!("# e{name}\n"),
            Format::Jsonc => {
                from.of(&["/* e */", "\n    // e\n", " // e\r\n"]).replace('e', &format!("e{name}"))
            }
        };
        ours.text.insert_str(place + 1, &comment);
        written.push(comment.trim().to_owned());
    }
    let edited = ours.merged(&sample.text, &[]);
    let back = format.remove(&edited, &merged.added).map(|restored| restored.text);
    let mut back = back.map_err(|error| TestCaseError::fail(format!("{error}: {edited:?}")))?;
    prop_assert_eq!(format.read(&back), format.read(&sample.text), "{:?} from {:?}", back, edited);
    let expected = &*sample.text;
    for comment in written {
        prop_assert!(back.contains(&comment), "{comment:?} in {back:?} from {edited:?}");
        back = back.replacen(&comment, "", 1);
    }
    prop_assert!(is_within(expected, &back), "{expected:?} in {back:?} from {edited:?}");
    prop_assert_eq!(without_blanks(&back), without_blanks(expected), "from {:?}", edited);
    Ok(())
}

#[test]
fn additions_of_a_person_to_our_entry_stay_after_its_removal() {
    let hook = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command" }] }] } });
    let shell = json!({ "features": { "shell_tool": false } });
    let table = json!({ "mcp_servers": { "pilothouse": { "command": "x" } } });
    let environment = json!({ "environments": [{ "id": "pilothouse", "program": "x" }] });
    let (json, toml) = (Format::Jsonc, Format::Toml);
    for (format, before, settings, old, new, after) in [
        (
            json,
            "{\n  \"a\": 1\n}\n",
            &server(),
            "\"mcpServers\": {\n",
            "\"mcpServers\": {\n    // mine\n    \"mine\": 1,\n",
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    // mine\n    \"mine\": 1\n  }\n}\n",
        ),
        (json, "", &hook, "\n}\n", ",\n  \"mine\": 1\n}\n", "{\n  \"mine\": 1\n}\n"),
        (
            json,
            "{ }",
            &hook,
            "[{ \"hooks\"",
            "[{ \"matcher\": \"Bash\", \"hooks\"",
            "{ \"hooks\": { \"Stop\": [{ \"matcher\": \"Bash\" }] } }",
        ),
        (
            json,
            "{ }",
            &hook,
            "{ \"type\"",
            "{ \"type\": \"mine\" }, { \"type\"",
            "{ \"hooks\": { \"Stop\": [{ \"hooks\": [{ \"type\": \"mine\" }] }] } }",
        ),
        (
            json,
            "{ \"a\": 1 }",
            &json!({ "b": 2 }),
            "\"a\": 1, \"b\": 2",
            "\"b\": 2, \"a\": 1",
            "{ \"a\": 1 }",
        ),
        (
            json,
            "{\n  \"a\": 1\n}",
            &json!({ "b": 2 }),
            "  \"a\": 1,\n  \"b\": 2",
            "  \"b\": 2,\n  \"a\": 1",
            "{\n  \"a\": 1\n}",
        ),
        (toml, "", &shell, "false\n", "false\nmine = 1 # c\n", "[features]\nmine = 1 # c\n"),
        (
            toml,
            "a = 1\n",
            &shell,
            "shell_tool = false\n",
            "\n[features.mine]\n",
            "a = 1\n\n[features.mine]\n",
        ),
        (
            toml,
            "[features.x]\n",
            &shell,
            "shell_tool",
            "mine = 1\nshell_tool",
            "[features.x]\n\n[features]\nmine = 1\n",
        ),
        (toml, "a = 1", &table, "x\"", "x\"\n[mcp_servers.pilothouse.env]\nA = 1\n[b]\n", "a = 1\n[b]\n"),
        (toml, "[b]\n", &table, "[b]\n\n", "# mine\n", "# mine\n"),
        (toml, "a = 1\n", &environment, "program", "mine = 1\nprogram", "a = 1\n"),
        (toml, "environments = []", &environment, ", program", ", mine = 1, program", "environments = []"),
    ] {
        let merged = added(format, before, settings);
        assert!(merged.contains(old), "{merged}");
        let back = undone(format, before, settings, |text| text.replacen(old, new, 1));
        assert_eq!(back, after, "{merged}");
    }
}

proptest! {
    #[test]
    fn changes_of_a_person_beside_our_json_entry_stay(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        check(Format::Jsonc, bytes)?;
    }

    #[test]
    fn changes_of_a_person_beside_our_toml_entry_stay(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        check(Format::Toml, bytes)?;
    }

    #[test]
    fn comments_in_ours_stay(is_toml: bool, bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        check_inside(if is_toml { Format::Toml } else { Format::Jsonc }, bytes)?;
    }
}
