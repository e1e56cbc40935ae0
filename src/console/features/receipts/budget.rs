//! The budgets that the texts of a call can be compacted to, in characters of the envelope, in round steps.

use crate::console::features::receipts::answer::AnswerTexts;
use crate::model::CallRecord;

/// The smallest budget that can be set.
const LEAST: u64 = 50;

/// Returns the next smaller budget, rounded to two significant digits.
pub(crate) fn less(chars: u64) -> u64 {
    let next = chars * 4 / 5;
    (next - next % grain(next)).max(LEAST)
}

/// Returns the largest budget below this many characters that makes the texts shorter, if there is one.
pub(crate) fn next_less(record: &CallRecord, chars: u64) -> Option<u64> {
    let whole = AnswerTexts::of(record);
    let shortens = |budget: &u64| whole.within(*budget).is_some_and(|shorter| shorter.is_within(&whole));
    let mut budget = chars;
    std::iter::from_fn(|| {
        let next = less(budget);
        (next < std::mem::replace(&mut budget, next)).then_some(next)
    })
    .find(shortens)
}

/// Returns the next larger budget, or none if the whole fits.
pub(crate) fn more(chars: u64, whole: u64) -> Option<u64> {
    let next = chars.saturating_mul(5).div_ceil(4);
    let next = next.next_multiple_of(grain(next));
    Some(next).filter(|next| *next < whole)
}

fn grain(chars: u64) -> u64 {
    10_u64.pow(chars.max(1).ilog10().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_go_down_and_up_in_round_steps() {
        assert_eq!([less(1_106), less(880), less(700), less(60), less(50)], [880, 700, 560, 50, 50]);
        assert_eq!(
            [more(560, 1_106), more(700, 1_106), more(880, 1_106)],
            [Some(700), Some(880), Some(1_100)]
        );
        assert_eq!(more(1_100, 1_106), None);
    }
}
