//! Lines out of a grammar, the same for the same number.

use std::collections::BTreeMap;

/// How deep rules are followed before the first alternative of each is taken.
const DEEP: usize = 9;
/// The longest line that is still made longer.
const LONG: usize = 300;

/// A grammar: the alternatives of each rule by its name.
pub(crate) struct Grammar<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Grammar<'a> {
    /// Reads a grammar.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut rules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut name = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                None => name = line,
                Some(alternative) => {
                    let weighted = alternative
                        .split_once("* ")
                        .and_then(|(count, rest)| Some((count.parse().ok()?, rest)));
                    let (count, alternative) = weighted.unwrap_or((1_usize, alternative));
                    rules.entry(name).or_default().extend(std::iter::repeat_n(alternative, count));
                }
            }
        }
        Self(rules)
    }

    /// Returns a line.
    pub(crate) fn line(&self, seed: u64) -> String {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed);
        let mut line = String::new();
        self.expand("line", &mut numbers, 0, &mut line);
        line
    }

    fn expand(&self, rule: &str, numbers: &mut Numbers, deep: usize, line: &mut String) {
        let all = &self.0[rule];
        let is_over = deep > DEEP || line.len() > LONG;
        let mut rest = if is_over { all[0] } else { all[numbers.below(all.len())] };
        while !rest.is_empty() {
            let inner = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            match inner.filter(|(name, _)| self.0.contains_key(name)) {
                Some((name, after)) => {
                    self.expand(name, numbers, deep + 1, line);
                    rest = after;
                }
                None if rest.starts_with("\\n") || rest.starts_with("\\t") => {
                    line.push(if rest.starts_with("\\n") { '\n' } else { '\t' });
                    rest = &rest[2..];
                }
                None => {
                    let end = if rest.starts_with("\\\\") {
                        2
                    } else {
                        rest.chars().next().map_or(1, char::len_utf8)
                    };
                    line.push_str(&rest[usize::from(rest.starts_with("\\\\"))..end]);
                    rest = &rest[end..];
                }
            }
        }
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}
