//! What a command is called where it stands in a row: what it says, without the step into the directory it starts in
//! anyway. Pure.

use std::path::Path;

use crate::model::TaskView;

/// Returns a task's command as its title: without surrounding blanks and without a leading `cd DIRECTORY &&` into its own
/// directory.
pub(crate) fn title(task: &TaskView) -> &str {
    let cmd = task.cmd.trim();
    without_own_cd(cmd, &task.workdir).unwrap_or(cmd)
}

fn without_own_cd<'a>(cmd: &'a str, workdir: &Path) -> Option<&'a str> {
    let (directory, rest) = word(cmd.strip_prefix("cd ")?.trim_start())?;
    let rest = rest.trim_start().strip_prefix("&&")?.trim_start();
    let is_own = directory == "." || Path::new(directory) == workdir;
    (is_own && !rest.is_empty()).then_some(rest)
}

/// Splits the first word from a command line, if it means what it says: in quotes, or free of anything that a shell
/// replaces.
fn word(text: &str) -> Option<(&str, &str)> {
    for quote in ['\'', '"'] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).filter(|(word, _)| quote == '\'' || is_plain(word));
        }
    }
    let end = text.find([' ', '\t', '&']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty() && is_plain(word)).then_some((word, rest))
}

fn is_plain(word: &str) -> bool {
    !word.contains(['$', '`', '\\', ';', '|', '<', '>', '(', ')', '*', '?', '~', '\'', '"', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_into_its_own_directory_is_no_part_of_a_title() {
        let short = |cmd| without_own_cd(cmd, Path::new("/home/ana/a b")).unwrap_or(cmd);
        for (cmd, title) in [
            ("cd '/home/ana/a b' && cargo test", "cargo test"),
            ("cd \"/home/ana/a b/\" &&cargo test", "cargo test"),
            ("cd . && make && make install", "make && make install"),
            ("cd /home/ana/other && make", "cd /home/ana/other && make"),
            ("cd sub && make", "cd sub && make"),
            ("cd '/home/ana/a b' ; make", "cd '/home/ana/a b' ; make"),
            ("cd '/home/ana/a b' &&", "cd '/home/ana/a b' &&"),
            ("cd '/home/ana/a b'", "cd '/home/ana/a b'"),
            ("cd \"$HOME\" && make", "cd \"$HOME\" && make"),
            ("cdx && make", "cdx && make"),
        ] {
            assert_eq!(short(cmd), title);
        }
    }
}
