//! Suggestion of the known name that was probably meant.

/// The minimum similarity, from 0 to 1, for suggesting a name.
const NEAR: f64 = 0.7;

/// Returns the known name most similar to the given one, if any is similar enough.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &&str| {
        if abbreviates(other, name) || abbreviates(name, other) {
            1.0
        } else {
            strsim::jaro_winkler(name, other)
        }
    };
    known
        .map(|other| (likeness(&other), other))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|(a, one), (b, other)| {
            let far = |other: &str| other.len().abs_diff(name.len());
            a.total_cmp(b).then_with(|| far(other).cmp(&far(one)))
        })
        .map(|(_, other)| other)
}

/// Returns whether a name is another one with letters left out, as `cmd` is of `command`.
fn abbreviates(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let same_start = short.chars().next() == long.chars().next();
    short.len() > 2 && same_start && short.chars().all(|letter| letters.any(|other| other == letter))
}
