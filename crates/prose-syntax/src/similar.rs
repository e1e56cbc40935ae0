//! Known words that resemble an unknown one.

/// Returns the known word most similar to a given one, if any is similar enough.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().clamp(3, 12) / 3;
    if word.len() > 64 {
        return None;
    }
    let near = known.into_iter().filter(|known| *known != word);
    let near = near.map(|known| (strsim::damerau_levenshtein(word, known), known));
    near.filter(|(edits, known)| *edits <= most && *edits < known.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, known)| known)
}

/// Suggests the known word most similar to a given one, if any is similar enough.
pub(super) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}
