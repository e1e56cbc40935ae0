//! Notices about what one console has done are shown in the others, not in itself.

use std::sync::Arc;

use crate::model::Snapshot;

/// Returns a snapshot without the notices about the console with this process id.
pub(super) fn without(snapshot: &Arc<Snapshot>, own: u32) -> Arc<Snapshot> {
    if snapshot.notices.iter().all(|notice| notice.from != Some(own)) {
        return Arc::clone(snapshot);
    }
    let mut shown = Snapshot::clone(snapshot);
    shown.notices.retain(|notice| notice.from != Some(own));
    Arc::new(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Notice;

    #[test]
    fn a_console_is_not_told_what_it_did_itself() {
        let notice = |seq, from| Notice {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            is_error: false,
            text: "said".into(),
            from,
        };
        let notices = vec![notice(1, None), notice(2, Some(7)), notice(3, Some(1))];
        let snapshot = Arc::new(Snapshot { notices, ..Snapshot::default() });
        let seen: Vec<u64> = without(&snapshot, 7).notices.iter().map(|notice| notice.seq).collect();
        assert_eq!(seen, [1, 3]);
    }
}
