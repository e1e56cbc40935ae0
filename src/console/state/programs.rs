//! Which program is shown, and which part of it.

/// The state of the program screen.
#[derive(Debug, Clone, Default)]
pub struct ProgramScreen {
    /// The run chosen; if none, the newest.
    pub run: Option<String>,
    /// The first line shown, once the user has scrolled; the source no longer follows the program then.
    pub top: Option<usize>,
    /// How many columns the source is panned to the right.
    pub pan: u16,
    /// The index of the program's command that has the pane.
    pub task_at: usize,
    /// Whether keys go to the pane instead of the source.
    pub in_pane: bool,
}

/// Returns the file if a command runs a program, written as just its path or as on the command line:
/// `a.prose`, `pilothouse run a.prose`. With options, it is treated as an ordinary command.
pub(in crate::console) fn program_file(cmd: &str) -> Option<&str> {
    let words: Vec<&str> = cmd.split_whitespace().collect();
    let file = match words[..] {
        [file] | ["pilothouse", "run", file] => file,
        _ => return None,
    };
    (file.ends_with(".prose") && !file.contains(['\'', '"', '$', '*'])).then_some(file)
}
