//! What a rule of the settings holds a command by: the words that it begins with.

mod prefix;
mod prefix_match;
mod shell_words;

pub use prefix::{ALIKE, NoPrefix, Prefix};
pub use prefix_match::begins;
pub use shell_words::{Joint, commands, joined_commands, plain_words, quote};
