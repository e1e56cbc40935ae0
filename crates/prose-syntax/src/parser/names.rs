//! The names of a program: equal names share their text if they recur soon.

use std::sync::Arc;

use crate::ast::Name;
use crate::source::Span;

/// How many names are cached: few enough to stay in the L1 cache.
const SLOTS: usize = 512;

/// The most recent names, each in a slot determined by its letters. Another name may take the slot: then equal names
/// do not share their text, and nothing else changes. So no program can make this slow or large.
#[derive(Debug)]
pub(super) struct Names(Vec<Option<Arc<str>>>);

impl Default for Names {
    fn default() -> Self {
        Self(vec![None; SLOTS])
    }
}

impl Names {
    pub(super) fn name(&mut self, text: &str, span: Span) -> Name {
        let slot = &mut self.0[slot_of(text)];
        let text = match slot {
            Some(known) if **known == *text => known.clone(),
            _ => slot.insert(text.into()).clone(),
        };
        Name { text, span }
    }
}

fn slot_of(text: &str) -> usize {
    let mixed =
        text.bytes().fold(0_usize, |mixed, byte| mixed.wrapping_mul(31).wrapping_add(usize::from(byte)));
    mixed % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_text_when_another_name_took_its_slot() {
        let mut names = Names::default();
        let read = |names: &mut Names, n: usize| names.name(&format!("v{}", n % 2000), Span::default());
        for n in 0..6000 {
            assert_eq!(read(&mut names, n).as_str(), format!("v{}", n % 2000));
        }
        assert!(Arc::ptr_eq(&read(&mut names, 7).text, &read(&mut names, 7).text));
    }
}
