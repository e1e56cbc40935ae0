//! Notices about what one console has done are shown in the others, not in itself.

use std::sync::Arc;

use crate::runtime::Snapshot;

/// Returns a snapshot without the notices about this process.
pub(super) fn of_others(snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
    let own = Some(std::process::id());
    if snapshot.notices.iter().all(|notice| notice.from != own) {
        return Arc::clone(snapshot);
    }
    let mut shown = Snapshot::clone(snapshot);
    shown.notices.retain(|notice| notice.from != own);
    Arc::new(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Notice;

    #[test]
    fn a_console_is_not_told_what_it_did_itself() {
        let notice = |seq, from| Notice {
            seq,
            at: jiff::Timestamp::UNIX_EPOCH,
            is_error: false,
            text: "said".into(),
            from,
        };
        let notices = vec![notice(1, None), notice(2, Some(std::process::id())), notice(3, Some(1))];
        let snapshot = Arc::new(Snapshot { notices, ..Snapshot::default() });
        let seen: Vec<u64> = of_others(&snapshot).notices.iter().map(|notice| notice.seq).collect();
        assert_eq!(seen, [1, 3]);
    }
}
