//! What the commands of a call that waits for the operator would cost, as computed last.

use serde::{Deserialize, Serialize};

/// The most sentences about one command; those beyond are counted.
const MOST_SENTENCES: usize = 20;
/// The most characters of a sentence.
const MOST_CHARS: usize = 400;

/// What the commands of a call that waits for the operator would cost, each in sentences. They quote names of files: not
/// safe to print as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallCost {
    /// How many times it was computed with a new result, 0 before the first. An answer names the one that was shown.
    pub revision: u32,
    /// The sentences about each command, in the order of the commands.
    pub commands: Vec<Vec<String>>,
    /// The sentences of the result before this one that no longer hold.
    pub gone: Vec<String>,
}

impl CallCost {
    /// Tells whether nothing was computed yet.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.revision == 0
    }

    /// Takes a newly computed result; returns whether it differs from the one before.
    pub fn take(&mut self, found: Vec<Vec<String>>) -> bool {
        let commands: Vec<_> = found.into_iter().map(limit_sentences).collect();
        if !self.is_unknown() && commands == self.commands {
            return false;
        }
        let before = std::mem::replace(&mut self.commands, commands).into_iter().flatten();
        self.gone =
            before.filter(|sentence| !self.commands.iter().flatten().any(|it| it == sentence)).collect();
        self.revision += 1;
        true
    }
}

/// Returns sentences within the limits of what a console is sent.
fn limit_sentences(mut sentences: Vec<String>) -> Vec<String> {
    let more = sentences.len().saturating_sub(MOST_SENTENCES);
    sentences.truncate(MOST_SENTENCES);
    for sentence in &mut sentences {
        if let Some((at, _)) = sentence.char_indices().nth(MOST_CHARS) {
            sentence.truncate(at);
            sentence.push('…');
        }
    }
    if more > 0 {
        sentences.push(format!("and {more} more"));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sentences: &[&str]) -> Vec<Vec<String>> {
        vec![sentences.iter().map(|sentence| (*sentence).to_owned()).collect()]
    }

    #[test]
    fn a_changed_cost_has_a_new_revision_and_names_the_sentences_that_no_longer_hold() {
        let mut cost = CallCost::default();
        assert!(cost.take(found(&["a", "b"])) && cost.gone.is_empty());
        assert!(!cost.take(found(&["a", "b"])));
        assert!(cost.take(found(&["b", "c"])));
        assert_eq!((cost.revision, &*cost.gone), (2, &["a".to_owned()][..]));
    }

    #[test]
    fn a_cost_result_without_sentences_counts_as_a_revision() {
        let mut cost = CallCost::default();
        assert!(cost.take(Vec::new()) && cost.revision == 1);
    }

    #[test]
    fn a_long_call_cost_is_cut_to_twenty_sentences_of_400_characters() {
        let mut cost = CallCost::default();
        cost.take(vec![vec!["ä".repeat(1_000); 30]]);
        assert_eq!(cost.commands[0].len(), 21);
        assert_eq!(cost.commands[0][0].chars().count(), 401);
        assert_eq!(cost.commands[0][20], "and 10 more");
    }
}
