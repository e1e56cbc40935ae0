//! What a person calls a program, by how its process was started: `pi` for `node /usr/lib/node_modules/pi/dist/cli.js`.

use super::tree::proc_file;

/// Programs that run a script: the script is the program.
const INTERPRETERS: [&str; 8] = ["node", "nodejs", "bun", "deno", "python", "ruby", "perl", "npx"];
/// Names of a program's own file that say nothing, and of the folders such a file is in.
const NAMELESS: [&str; 12] =
    ["index", "main", "cli", "bin", "dist", "build", "out", "lib", "src", "run", "start", "__main__"];

/// Returns the name of the program that a process runs; `None` if that is not visible. The text is the process's own.
#[must_use]
pub fn program_name(pid: u32) -> Option<String> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
    let line = proc_file(pid, "cmdline").ok()?;
    let args: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    name_of(&args.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

/// Tells whether the first argument of a process is this word.
#[must_use]
pub fn is_called_with(pid: u32, word: &str) -> bool {
    let line = i32::try_from(pid).ok().and_then(|pid| proc_file(pid, "cmdline").ok()).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(word.as_bytes())
}

fn name_of(args: &[&str]) -> Option<String> {
    let (program, args) = args.split_first()?;
    // A login shell is called `-bash`.
    let program = last(program).trim_start_matches('-');
    let is_interpreter =
        INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    let script = args.iter().find(|arg| !arg.starts_with('-')).filter(|_| is_interpreter);
    let named = script.and_then(|script| script_name(script));
    named.or(Some(program)).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Returns the part of a script's path that names it: the nearest one to its end that says anything.
fn script_name(path: &str) -> Option<&str> {
    path.rsplit('/').map(stem).find(|part| !part.is_empty() && !NAMELESS.contains(part))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(part: &str) -> &str {
    [".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pl"]
        .iter()
        .find_map(|end| part.strip_suffix(end))
        .unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_by_its_file_or_by_the_script_it_runs() {
        for (args, expected) in [
            (&["/usr/bin/aider", "--yes"][..], Some("aider")),
            (&["node", "/usr/local/bin/pi"], Some("pi")),
            (
                &["/opt/node/bin/node", "--no-warnings", "/x/node_modules/pi-coding-agent/dist/cli.js"],
                Some("pi-coding-agent"),
            ),
            (&["python3.12", "/home/u/agent/run.py"], Some("agent")),
            (&["python3", "-m", "aider"], Some("aider")),
            (&["node", "-"], Some("node")),
            (&["-bash"], Some("bash")),
            (&["bun", "/dist/index.js"], Some("bun")),
            (&[""], None),
            (&[], None),
        ] {
            assert_eq!(name_of(args).as_deref(), expected, "{args:?}");
        }
    }

    #[test]
    fn this_process_has_a_program_name_and_a_missing_one_has_none() {
        assert!(program_name(std::process::id()).is_some_and(|name| !name.contains('/')));
        assert_eq!(program_name(0), None);
    }
}
