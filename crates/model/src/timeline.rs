//! The last events of something that has had more of them, and how many came before.

/// Returns those of the last events that are not among the first `told` of all.
pub fn later_events<T>(events: &[T], earlier: u64, told: u64) -> &[T] {
    let known = usize::try_from(told.saturating_sub(earlier)).unwrap_or(usize::MAX);
    events.get(known..).unwrap_or_default()
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
