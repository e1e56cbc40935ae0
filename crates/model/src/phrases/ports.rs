//! Who holds a port that a task could not have.

use crate::{PortHolder, TakenPort};

impl TakenPort {
    /// Says who holds it, a holder in the words of `holder`. Who holds a port that no task of this runtime holds may be
    /// known to `other`.
    pub fn sentence(
        &self,
        holder: impl Fn(&PortHolder) -> String,
        other: impl FnOnce(u16) -> Option<String>,
    ) -> String {
        match (self.port, &self.holders[..]) {
            (Some(port), [one, ..]) => format!("Port {port} is held by {}", holder(one)),
            (Some(port), []) => match other(port) {
                Some(other) => format!("Port {port} is held by {other}"),
                None => format!("Port {port} is held, by no task of this workspace"),
            },
            (None, []) => "An address was in use; no task of this workspace holds a port".to_owned(),
            (None, all) => {
                let all: Vec<String> =
                    all.iter().map(|one| format!("port {} by {}", one.port, holder(one))).collect();
                format!("An address was in use; held in this workspace: {}", all.join(", "))
            }
        }
    }
}
