//! The last step of compaction: the items of a batch, reduced to a few words, then left out and counted.

use serde_json::{Map, Value};

use crate::canonical::{CallOutcome, Envelope, one_line};

/// The length to which an item's command, and the reason it did not run, are cut, in characters.
const WORDS: usize = 24;

/// Returns increasingly short forms of an envelope: with its items reduced to a few words, then with one item less at
/// a time. Successful items are dropped first, from the end; the failed ones are what a reader needs. Empty for an
/// envelope without items.
pub(super) fn fewer(envelope: &Envelope) -> impl Iterator<Item = Envelope> + use<> {
    let envelope = envelope.clone();
    let items = count(&envelope);
    (0..=items).filter(move |_| items > 0).map(move |omitted| without(&envelope, omitted))
}

/// Returns the shortest form.
pub(super) fn fewest(envelope: &Envelope) -> Envelope {
    without(envelope, count(envelope))
}

fn count(envelope: &Envelope) -> usize {
    envelope.result().and_then(|result| result["items"].as_array()).map_or(0, Vec::len)
}

fn without(envelope: &Envelope, omitted: usize) -> Envelope {
    let CallOutcome::Success(Value::Object(mut result)) = envelope.outcome().clone() else {
        return envelope.clone();
    };
    let Some(Value::Array(items)) = result.get_mut("items") else { return envelope.clone() };
    for _ in 0..omitted {
        let went_well = |item: &Value| item["status"] == "completed";
        let at = items.iter().rposition(went_well).or_else(|| items.len().checked_sub(1));
        at.into_iter().for_each(|at| drop(items.remove(at)));
    }
    items.iter_mut().filter_map(Value::as_object_mut).for_each(in_few_words);
    if omitted > 0 {
        let before = result.get("items_omitted").and_then(Value::as_u64).unwrap_or_default();
        result.insert("items_omitted".to_owned(), (before + omitted as u64).into());
    }
    envelope.with_outcome(CallOutcome::Success(Value::Object(result)))
}

fn in_few_words(item: &mut Map<String, Value>) {
    item.retain(|name, value| !value.is_null() && name != "duration_ms");
    for name in ["cmd", "end_reason"] {
        item.get_mut(name).into_iter().for_each(shorten);
    }
    let message = item.get_mut("error").and_then(|error| error.get_mut("message"));
    message.into_iter().for_each(shorten);
}

fn shorten(text: &mut Value) {
    if let Value::String(text) = text
        && text.chars().nth(WORDS).is_some()
    {
        *text = one_line(text, WORDS);
    }
}
