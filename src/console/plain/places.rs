//! Several places: the state of each, and where a command starts.

use std::sync::Arc;

use crate::console::plain::session::{PlainEffect, PlainSession};
use crate::console::plain::steps::reply;
use crate::console::state::{link_word, start_of};
use crate::console::text::visible;
use crate::model::{PlaceState, Snapshot};

impl PlainSession {
    /// Lists the places.
    pub(super) fn places(&self) -> Vec<PlainEffect> {
        let standing = |place: &Arc<PlaceState>| {
            let host = place.host.as_deref().unwrap_or("this machine");
            reply(format!(
                "{} {}, {} live, {} waiting, {host}, {}",
                place.name.name,
                link_word(&place.link, self.now),
                place.live_tasks(),
                place.waiting(),
                visible::one_line(&place.workspace.display().to_string()),
            ))
        };
        match &self.snapshot.places[..] {
            [] => vec![reply(format!("one place: {}", self.snapshot.workspace.display()))],
            places => places.iter().map(standing).collect(),
        }
    }

    /// Starts a command; with several places, in the one named in front: `in web-fix npm test`.
    pub(super) fn start(&self, written: &str) -> Vec<PlainEffect> {
        let places = &self.snapshot.places;
        if places.len() < 2 {
            return vec![PlainEffect::Do(start_of(None, written, None))];
        }
        let Some((name, cmd)) = named_place(written) else {
            return vec![reply(format!("say where: start in PLACE COMMAND; {}", names(&self.snapshot)))];
        };
        match places.iter().find(|place| place.name.name == name) {
            Some(place) => vec![PlainEffect::Do(start_of(Some(place.name.id.clone()), cmd, None))],
            None => vec![reply(format!("no place is called {name:?}; {}", names(&self.snapshot)))],
        }
    }
}

/// Names the existing places.
pub(super) fn names(snapshot: &Snapshot) -> String {
    let names: Vec<&str> = snapshot.places.iter().map(|place| place.name.name.as_str()).collect();
    format!("places: {}", names.join(", "))
}

/// Parses `in PLACE COMMAND`.
fn named_place(written: &str) -> Option<(&str, &str)> {
    let (name, cmd) = written.strip_prefix("in ")?.trim_start().split_once(char::is_whitespace)?;
    Some((name, cmd.trim())).filter(|(_, cmd)| !cmd.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stands_before_the_command() {
        assert_eq!(named_place("in web-fix npm  test"), Some(("web-fix", "npm  test")));
        assert_eq!(named_place("in  box:api make"), Some(("box:api", "make")));
        for without in ["npm test", "in web-fix", "in web-fix  ", "in", "install x y"] {
            assert_eq!(named_place(without), None, "{without}");
        }
    }
}
