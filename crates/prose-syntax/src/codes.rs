//! The table of diagnostic codes: the meaning of each, its severity in each profile, and how to fix it.
//!
//! `E…` and `W…` are the language's own codes, `OPE…` and `OPW…` those of its public linter, `HPE…` and `HPW…` this
//! program's: for rules that the language states without a code, and for what `compat` accepts.

use serde::Serialize;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::diagnostic::{Profile, Severity};

/// How a code is treated in the `strict` profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StrictRule {
    /// Unchanged.
    Same,
    /// An error with the same code.
    Error,
    /// An error for which the language has another code.
    As(RuleCode),
}

/// When a rule is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulePhase {
    /// When the program is checked.
    Check,
    /// When it runs; it cannot be known earlier.
    Run,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct RuleRow {
    /// What the rule is, on one line without a full stop.
    pub what: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// When it is checked.
    pub when: RulePhase,
    severity: Severity,
    strict: StrictRule,
}

macro_rules! codes {
    ($($code:ident $severity:ident $strict:expr, $when:ident, $what:literal, $fix:literal;)*) => {
        /// A stable code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Display, EnumString, IntoStaticStr, VariantArray)]
        #[expect(missing_docs, reason = "each is documented by its row")]
        pub enum RuleCode { $($code,)* }

        impl RuleCode {
            /// Returns its row.
            pub fn row(self) -> RuleRow {
                match self {
                    $(Self::$code => RuleRow {
                        what: $what,
                        fix: $fix,
                        when: RulePhase::$when,
                        severity: Severity::$severity,
                        strict: $strict,
                    },)*
                }
            }
        }
    };
}

use StrictRule::{As, Error as Fatal, Same};

// To add one: add a row here, at the end of its kind, and a program that triggers it in `tests/codes.rs`; then update
// the reference with `UPDATE_REFERENCE=1 cargo test --test it prose_codes`.
codes! {
    E001 Error Same, Check, "a string is not closed", "close it with `\"`; text over several lines goes between `\"\"\"` and `\"\"\"`";
    E002 Error Same, Check, "an escape that does not exist", "write `\\\\` for a backslash; known are `\\\\` `\\\"` `\\n` `\\t` `\\{` `\\}`";
    E003 Error Same, Check, "a session without prompt and agent", "write `session \"what to do\"` or `session: agent`";
    E004 Error Same, Check, "something else was expected here", "see what the message expects";
    E005 Error Same, Check, "the statement has no form of the language", "see what the message says";
    E006 Error Same, Check, "two agents have the same name", "rename one of them";
    E007 Error Same, Check, "the agent is not defined", "define it with `agent name:`, or correct the name";
    E008 Error Same, Check, "no such model", "write `sonnet`, `opus` or `haiku`";
    E009 Error Same, Check, "a property is given twice", "keep one of them";
    E010 Error Same, Check, "a program is used twice", "keep one `use`, or give each an alias of its own";
    E011 Error Same, Check, "the path of a used program is empty", "write `use \"@handle/name\"` or `use \"./file.prose\"`";
    E012 Error Same, Check, "the path of a used program has no known form", "write `@handle/name`, a URL, or the path of a `.prose` file";
    E013 Error Same, Check, "skills are not a list", "write `skills: [\"one\", \"two\"]`";
    E014 Error Same, Check, "a skill is not a string", "put its name between quotes";
    E015 Error Same, Check, "permissions are not a block", "write each on a line of its own below `permissions:`";
    E016 Error Same, Check, "the pattern of a permission is not a string", "put it between quotes";
    E017 Error Same, Check, "`resume:` of an agent that remembers nothing", "give the agent `persist: true`, or start it with `session:`";
    E018 Error Same, Run, "`resume:` without anything remembered", "start the agent with `session:` first";
    E019 Error Same, Check, "a name is taken: all variables of a program share one namespace", "choose another name, or assign without `let`";
    E020 Error Same, Check, "an input without a name", "write `input name: \"what it is\"`";
    E021 Error Same, Check, "two inputs have the same name", "rename one of them";
    E022 Error Same, Check, "an input after something was executed", "move it to the top of the program";
    E023 Error Same, Check, "an output without a name", "write `output name = …`";
    E024 Error Same, Check, "two outputs have the same name", "rename one of them";
    E025 Error Same, Check, "no program is used under this name", "add `use \"…\" as name`; a block is called with `do name(…)`";
    E026 Error Same, Check, "a program is called without an input it needs", "add the input to the call";
    E027 Error Same, Check, "a program is called with an input it does not have", "correct the name, or leave it out";
    E028 Error Same, Check, "a program has no such output", "correct the name; the message lists those it has";
    E050 Error Same, Check, "the command of an exec is empty", "write the command between the quotes";
    E051 Error Same, Check, "the timeout of an exec or a session is not a duration", "write it quoted, as \"30s\", \"5m\", \"1h\" or \"1h30m\", and more than zero";
    E052 Error Same, Check, "the on-fail of an exec is none", "write \"throw\", \"continue\" or \"ignore\"";
    E053 Error Same, Check, "an interpolated variable is not defined", "define it before this line; write `\\{` for a brace that is text";
    OPE001 Error Same, Check, "a line is indented with tabs", "indent with spaces";
    OPE002 Error Same, Check, "a gate without a prompt", "add `prompt: \"what is asked\"` below it";
    OPE003 Error Same, Check, "the maximum of a loop is not a positive whole number", "write `(max: 10)`";
    HPE001 Error Same, Check, "a constant is assigned again", "declare it with `let`, or use another name; names of loops, parameters and errors are constants";
    HPE002 Error Same, Check, "the variable is not defined", "define it before this line, or correct the name";
    HPE003 Error Same, Check, "an agent has this name", "choose another name";
    HPE004 Error Same, Check, "an element of a context is no variable", "bind the value with `let` first, and name it here";
    HPE005 Error Same, Check, "the block is not defined", "define it with `block name:`, or correct the name";
    HPE006 Error Same, Check, "two blocks have the same name", "rename one of them";
    HPE007 Error Same, Check, "a definition without a name", "write the name after the word";
    HPE008 Error Same, Check, "no such join strategy", "write \"all\", \"first\" or \"any\"";
    HPE009 Error Same, Check, "no such on-fail of a parallel block", "write \"fail-fast\", \"continue\" or \"ignore\"";
    HPE010 Error Same, Check, "a count without the strategy \"any\"", "write `parallel (\"any\", count: 2):`, or leave the count out";
    HPE011 Error Same, Check, "the count of a parallel block is not a positive whole number", "write 1 or more";
    HPE012 Error Same, Check, "the count of a repeat is not a positive whole number", "write 1 or more";
    HPE013 Error Same, Check, "nothing stands between the discretion markers", "write what is to be judged between `**` and `**`";
    HPE014 Error Same, Check, "a try with neither catch nor finally", "add `catch:` or `finally:` below it";
    HPE015 Error Same, Check, "a choice without options", "add `option \"label\":` below it";
    HPE016 Error Same, Check, "a clause without the statement it belongs to", "put it right after its `if`, `try` or `choice`, at the right depth";
    HPE017 Error Same, Check, "a clause that there can be only one of", "keep one of them";
    HPE018 Error Same, Check, "the retry of a session is not a positive whole number", "write 1 or more";
    HPE019 Error Same, Check, "no such backoff", "write `none`, `linear` or `exponential`";
    HPE020 Error Same, Check, "a reduce without its two names", "write `reduce(sum, item):`";
    HPE021 Error Same, Check, "no such pipe operation", "write `map:`, `filter:`, `pmap:` or `reduce(sum, item):`";
    HPE022 Error Same, Check, "the timeout of a gate is not a duration", "write it quoted, as \"30s\", \"5m\" or \"1h\", and more than zero";
    HPE023 Error Same, Check, "no such on_reject", "write `throw`, `throw \"message\"`, `retry`, `continue` or `session \"prompt\"`";
    HPE024 Error Same, Check, "the program is nested too deeply", "move the inner part into a `block`";
    HPE025 Error Same, Check, "no such persistence of an agent", "write `true`, `project`, `user`, or a path between quotes";
    HPE026 Error Same, Check, "a used program cannot be read", "correct the path: it counts from the folder of this program";
    W001 Warning Same, Check, "the prompt of a session is empty", "say what to do";
    W002 Warning Same, Check, "the prompt of a session is only white space", "say what to do";
    W003 Warning Same, Check, "the prompt of a session is longer than 10,000 characters", "break the task into smaller ones, or pass text as context";
    W004 Warning Same, Check, "a prompt is empty", "say what to do, or leave it out";
    W005 Warning Same, Check, "no such property; it is ignored", "correct the name, or leave it out";
    W006 Warning Same, Check, "the source of an import has no known form", "write `github:owner/name`, `npm:name` or a path";
    W007 Warning Same, Check, "a skill is not imported", "add `use` for it";
    W008 Warning Same, Check, "no such kind of permission", "known are read, write, execute, bash and network";
    W009 Warning Same, Check, "no such permission", "write `allow`, `deny` or `prompt`, or a list of patterns";
    W010 Warning Same, Check, "the list of skills is empty", "leave it out";
    W011 Warning Same, Check, "`session:` forgets what the agent remembers", "write `resume:` to go on from it";
    W050 Warning Same, Check, "the timeout of an exec is longer than 10 minutes", "shorten it if the command may hang";
    W051 Warning Same, Check, "a command is built from variables", "use values you trust: the shell reads them as part of the command";
    OPW001 Warning Same, Check, "a loop that nothing ends", "add a condition, or `(max: 10)`";
    OPW002 Warning Same, Check, "what is to be judged is very short", "say it so that somebody else would decide the same";
    OPW003 Warning Fatal, Check, "the old import of a skill", "write `use \"@handle/name\"`";
    OPW004 Warning Fatal, Check, "a colon after the prompt of a session", "leave the colon out";
    OPW005 Warning Fatal, Check, "a session with its prompt below it alone", "write `session \"prompt\"` or `session: agent`";
    OPW007 Warning As(RuleCode::E022), Check, "an input after something was executed: it is asked there", "move it to the top of the program";
    HPW001 Warning As(RuleCode::E053), Check, "an interpolated variable is not defined; it stays text", "define it before this line; write `\\{` for a brace that is text";
    HPW002 Warning Same, Check, "an input without a description", "say what it is";
    HPW003 Warning Same, Check, "a block gets another number of arguments than it has parameters", "give it what it has parameters for";
    HPW004 Warning As(RuleCode::E019), Check, "a name is used again in another part of the program", "choose another name: all variables of a program share one namespace";
    HPW005 Warning Same, Check, "a name hides an outer one", "choose another name if both are needed";
    HPW006 Warning Same, Check, "a parallel block waits for more successes than it has branches", "lower the count: as it stands, the block fails";
    HPW007 Warning Same, Check, "the message of a throw is empty", "say what went wrong";
    HPW008 Warning Same, Check, "more than 10 retries", "lower the number";
    HPW009 Warning Same, Check, "a retry on an agent; it is ignored", "put it on the sessions";
    HPW010 Warning Same, Check, "two options have the same label", "rename one: the first is taken";
    HPW011 Warning Same, Check, "nothing is to be done here", "add a statement, or leave the header out";
    HPW012 Warning Same, Check, "the prompt of a gate is empty", "say what is to be approved";
    HPW013 Warning Same, Check, "nobody known may decide this gate", "write `allow: [\"user\"]`: it is the only one known";
    HPW014 Warning As(RuleCode::E001), Check, "a string between single quotes goes over several lines", "write `\"\"\"` before and after it";
    HPW015 Warning As(RuleCode::E005), Check, "text right after `\"\"\"`", "start it on the next line";
    HPW016 Warning As(RuleCode::E005), Check, "a calculation or comparison, which the language does not have", "write the condition as `**…**`, or let a command decide";
    HPW017 Warning As(RuleCode::E005), Check, "a form that is not of the language, or no longer", "write it as the message says";
    HPW018 Warning Same, Check, "a command runs although the gate before it was rejected", "write `on_reject: throw` if the gate is to guard the command";
    HPW019 Warning Same, Check, "a throw without a message outside a catch", "add a message: there is no error to raise again";
    HPW020 Warning As(RuleCode::HPE002), Check, "a variable is assigned that was never declared", "write `let` before it";
    HPW021 Warning As(RuleCode::HPE009), Check, "an old on-fail; it is taken as \"continue\"", "write \"continue\"";
    HPW022 Warning Same, Check, "a branch that may be none of those that count is named alone", "name it in a list, `context: [a, b]`: a branch that does not count is left out there";
    HPW023 Warning As(RuleCode::HPE004), Check, "a context is a text, not a variable", "bind the text with `let` first, and name it here";
    HPW024 Warning As(RuleCode::HPE003), Check, "a name for one body is that of an agent, which it hides there", "choose another name";
    HPW025 Warning Same, Check, "a brace before a name that is not closed right after it: it stays text", "write `{name}` for the value of a whole variable, or `\\{` for a brace that is text";
    HPW026 Warning As(RuleCode::E018), Run, "`resume:` of a memory that outlives the run and is not there yet: it starts empty", "start the agent with `session:` the first time";
}

impl RuleCode {
    /// Returns the code and severity in a profile.
    pub fn in_profile(self, profile: Profile) -> (Self, Severity) {
        let row = self.row();
        match (profile, row.strict) {
            (Profile::Compat, _) | (Profile::Strict, StrictRule::Same) => (self, row.severity),
            (Profile::Strict, StrictRule::Error) => (self, Severity::Error),
            (Profile::Strict, StrictRule::As(other)) => (other, Severity::Error),
        }
    }

    /// Returns whether the rule is about the form of the text rather than its meaning: text that violates it cannot
    /// be formatted.
    pub(super) fn is_about_form(self) -> bool {
        let tolerable = matches!(
            self,
            Self::E002
                | Self::E008
                | Self::E009
                | Self::E011
                | Self::E012
                | Self::E050
                | Self::E051
                | Self::E052
                | Self::OPE002
                | Self::HPE004
                | Self::HPE010
                | Self::HPE013
                | Self::HPE014
        );
        self.row().severity == Severity::Error && !tolerable
    }

    /// All codes, in the order of the reference.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the code as text.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses a code.
    pub fn find(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_found_by_name() {
        for code in RuleCode::ALL {
            assert_eq!(RuleCode::find(code.as_str()), Some(*code));
        }
    }

    #[test]
    fn a_warning_code_is_a_warning_in_compat_and_an_error_code_an_error() {
        for code in RuleCode::ALL {
            let (same, severity) = code.in_profile(Profile::Compat);
            let named = if code.as_str().contains('E') { Severity::Error } else { Severity::Warning };
            assert_eq!((same, severity), (*code, named));
        }
    }

    #[test]
    fn every_row_tells_what_is_wrong_and_what_to_do() {
        for code in RuleCode::ALL {
            let row = code.row();
            assert!(!row.what.ends_with('.') && !row.fix.ends_with('.'), "{code}");
        }
    }
}
