//! Where an agent's commands run, as far as that is seen.

use std::path::Path;

use pilothouse_envelope::one_line;
use pilothouse_envelope::units::grouped_number;

use crate::AgentView;

/// Says of an agent that was started here that no command of it came here.
pub const NO_COMMAND: &str = "no command seen";

/// The maximum length of a path in a sentence, in characters.
const PATH_CHARS: usize = 120;

/// Says that commands of another working tree of the repository have a runtime of their own.
pub fn sibling_sentence(tree: &Path) -> String {
    let tree = one_line(&tree.to_string_lossy(), PATH_CHARS);
    format!("commands in {tree}, a working tree of this repository, run in its own runtime: @ opens it")
}

impl AgentView {
    /// Says which of its commands do not come here: `3 not routed`, or `not routed: /bin/sh`; `None` if none is known.
    #[must_use]
    pub fn unrouted_phrase(&self) -> Option<String> {
        match (&self.foreign_shell, self.unrouted) {
            (_, 1..) => Some(format!("{} not routed", grouped_number(self.unrouted))),
            (Some(shell), 0) if self.calls == 0 => Some(format!("not routed: {shell}")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_does_not_lead_here_is_named_until_a_command_comes_here() {
        let agent = AgentView { foreign_shell: Some("/bin/sh".into()), ..AgentView::default() };
        assert_eq!(agent.unrouted_phrase().as_deref(), Some("not routed: /bin/sh"));
        assert_eq!(AgentView { calls: 1, ..agent.clone() }.unrouted_phrase(), None);
        let counted = AgentView { calls: 1, unrouted: 1_200, ..agent };
        assert_eq!(counted.unrouted_phrase().as_deref(), Some("1,200 not routed"));
        assert_eq!(AgentView::default().unrouted_phrase(), None);
    }
}
