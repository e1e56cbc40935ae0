//! The actions that a dialog or a mode takes, as types of their own: it decides about these and no others, so that no
//! action falls into an arm that was written for something else.

use super::action::Action;
use super::keymap::KeyContext;

macro_rules! dialog_actions {
    ($($(#[$about:meta])* $name:ident of $context:ident: $($action:ident)*;)*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #[expect(missing_docs, reason = "`Action` says what each does")]
            pub enum $name { $($action,)* }

            impl $name {
                /// Returns the action as one of these; `None` if it means nothing here.
                #[must_use]
                pub fn of(action: Action) -> Option<Self> {
                    match action {
                        $(Action::$action => Some(Self::$action),)*
                        _ => None,
                    }
                }
            }
        )*

        /// The contexts with such a type, and whether each takes an action.
        pub const TAKEN: &[(KeyContext, fn(Action) -> bool)] =
            &[$((KeyContext::$context, |action| $name::of(action).is_some()),)*];
    };
}

dialog_actions! {
    /// What the stop dialog takes.
    StopDialogAction of Stop: Stop Kill Signal TellAgent Back;
    /// What the quit dialog takes.
    QuitDialogAction of Quit: Detach StopAll Back;
    /// What the dialog about what an agent left running takes.
    LeftDialogAction of Left: Stop Dismiss Choose Up Down Back;
    /// What a replay takes; anything else is for the screen below it.
    ReplayAction of Replay: Play Faster Slower StepForward StepBack NextPart PreviousPart Top Bottom;
    /// What copy mode takes.
    CopyAction of Copy: Up Down Left Right PageUp PageDown Top Bottom LineStart LineEnd
        Select SelectLines SelectBlock PreviousPrompt NextPrompt Yank Back;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::keys::Keymap;

    #[test]
    fn every_key_of_a_dialog_has_an_action_that_the_dialog_takes() {
        for preset in ["default", "vim", "emacs", "plain"] {
            let keymap = Keymap::of(preset, None).expect("a preset");
            for (context, takes) in TAKEN {
                for (action, keys) in keymap.own(*context) {
                    assert!(takes(action), "{preset}: {} {} {keys:?}", context.name(), action.name());
                }
            }
        }
    }
}
