//! Matches the words of a rule against the commands in a line, whatever was written before and between them. Pure.

use std::collections::BTreeSet;

use super::shell_words::commands;

/// Programs that run a program named in their arguments. Their options are too diverse to know which take a value:
/// any word after them may be the program.
const WRAPPERS: [&str; 30] = [
    "builtin",
    "busybox",
    "chronic",
    "chrt",
    "command",
    "coproc",
    "doas",
    "env",
    "exec",
    "find",
    "flock",
    "ionice",
    "nice",
    "nohup",
    "parallel",
    "prlimit",
    "runuser",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unbuffer",
    "unshare",
    "watch",
    "xargs",
];
/// Programs that run a command line given as one of their arguments.
const SHELLS: [&str; 12] =
    ["ash", "bash", "dash", "eval", "ksh", "parallel", "script", "sh", "su", "trap", "watch", "zsh"];
/// How many levels of nested shells are searched.
const DEPTH: usize = 3;
/// How many words after a wrapper may be the program, and how many words of a command are searched for a subcommand.
const NEAR: usize = 256;
/// How many words of a command are searched for an option of the rule.
const FAR: usize = 4_096;
/// An option with more letters than this is a single option, not a cluster of several.
const CLUSTER: usize = 3;

/// Returns whether one of the commands in a line begins with the words of `prefix`.
pub fn begins(line: &str, prefix: &str) -> bool {
    let Some(wanted) = commands(prefix).into_iter().next() else { return false };
    has(line, &wanted, DEPTH)
}

fn has(line: &str, wanted: &[String], depth: usize) -> bool {
    commands(line).iter().any(|words| {
        let is_wrapped = words.first().is_some_and(|program| WRAPPERS.contains(&name_of(program)));
        let near = words.len().min(if is_wrapped { NEAR } else { 1 });
        let shell = words[..near].iter().position(|word| SHELLS.contains(&name_of(word)));
        let has_line = |shell: usize| words[shell + 1..].iter().any(|word| has(word, wanted, depth - 1));
        let names_it = (0..near).any(|at| is_led_by(&words[at..], wanted));
        names_it || (depth > 0 && shell.is_some_and(has_line))
    })
}

/// Returns the name of a program: `git` for `/usr/bin/git`.
fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns whether a command matches: first the program, then the plain words in order with only options between
/// them, and the options anywhere.
fn is_led_by(words: &[String], wanted: &[String]) -> bool {
    let Some((program, wanted)) = wanted.split_first() else { return false };
    let Some((own, words)) = words.split_first() else { return false };
    let (options, plain): (Vec<&String>, Vec<&String>) = wanted.iter().partition(|word| is_option(word));
    (own == program || name_of(own) == program)
        && follow(words, &plain)
        && options.iter().all(|option| has_option(words, option))
}

/// Returns whether the words begin with the wanted ones, allowing options between them, each with at most one value.
fn follow(words: &[String], wanted: &[&String]) -> bool {
    let words = &words[..words.len().min(NEAR)];
    let mut places = BTreeSet::from([0]);
    for wanted in wanted {
        let mut after = BTreeSet::new();
        while let Some(place) = places.pop_first() {
            let Some(word) = words.get(place) else { continue };
            if word == *wanted {
                after.insert(place + 1);
            }
            if is_option(word) {
                places.extend([place + 1, place + 2]);
            }
        }
        places = after;
    }
    !places.is_empty()
}

/// Returns whether a word is an option, or a toolchain for cargo (`+nightly`).
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Returns whether the words contain an option: by itself, with its value, or within a cluster (`-fr` contains `-r`).
fn has_option(words: &[String], option: &str) -> bool {
    let mut words = words.iter().take(FAR);
    let is_it = |word: &String| {
        word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let letters = |word: &str| {
        word.strip_prefix('-').filter(|rest| rest.chars().all(|c| c.is_ascii_alphabetic())).map(str::to_owned)
    };
    let Some(wanted) = letters(option).filter(|letters| letters.len() <= CLUSTER) else {
        return words.any(is_it);
    };
    let given: String = words.filter_map(|word| letters(word)).collect();
    wanted.chars().all(|letter| given.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_found_behind_wrappers_and_with_options_between_them() {
        for cmd in [
            "git -C . push",
            "git -c a.b=c push",
            "git -c a.b=c --no-pager -C \"$(git rev-parse --show-toplevel)\" push origin",
            "git --git-dir=x push",
            "env X=1 git push",
            "env -i -u HOME PATH=/bin git push",
            "command git push",
            "timeout 5 git push",
            "timeout -k 5 --signal=INT 10 git push",
            "nohup git push &",
            "sudo git push",
            "sudo -u me -- git push",
            "exec git push",
            "exec -a x git push",
            "time -p git push",
            "nice -n 5 /usr/bin/git push",
            "sudo env A=1 timeout 5 git -C . push",
            ">log git push",
            "2>&1 git push",
            "</dev/null 2>/dev/null git push",
            "git >log push",
            "git 2>&1 push",
            "A+=1 git push",
            "a[0]=1 git push",
            "A=1 B=2 git push",
            "a=(1 2) git push",
            "function f { git push; }; f",
            "function f() { git push; }",
            "f() { git push; }",
            "f() git push",
            "coproc git push",
            "coproc P { git push; }",
            "xargs git push",
            "echo origin | xargs -n 1 git push",
            "find . -name x -exec git push \\;",
            "case x in x) git push;; esac",
            "for x in a; do git push; done",
            "! git push",
            "bash -c 'git push'",
            "bash -lc 'cd x && git push'",
            "sudo sh -c \"timeout 5 git push\"",
            "eval git push || eval 'git push'",
            "cat <<EOF > f\nit's\nEOF\ngit push",
            "bash <<EOF\ngit push\nEOF",
            "git commit -m \"$(cat <<'EOF'\nIt's done\nEOF\n)\" && git push",
            "# don't wait\ngit push",
        ] {
            assert!(begins(cmd, "git push"), "{cmd}");
        }
        for cmd in [
            "git commit -m push",
            "git stash push",
            "git push-all",
            "echo 'git push'",
            "echo git push > push",
            "printf '%s' 'bash -c git push'",
            "grep -r 'git push' .",
            "timeout 5 grep 'git push' notes",
            "# git push",
            "ls # && git push",
            "git > push",
            "git\u{2028}push",
        ] {
            assert!(!begins(cmd, "git push"), "{cmd}");
        }
    }

    #[test]
    fn an_option_of_a_rule_stands_anywhere_and_among_other_letters() {
        for (cmd, prefix, expected) in [
            ("rm -rf x", "rm -r", true),
            ("rm -fr x", "rm -rf", true),
            ("rm -v -r -f x", "rm -rf", true),
            ("rm x -r", "rm -r", true),
            ("rm -f x", "rm -r", false),
            ("rm x", "rm -r", false),
            ("git push origin --force", "git push --force", true),
            ("git push --force-with-lease", "git push --force", false),
            ("git push --force=x", "git push --force", true),
            ("find . -delete", "find -delete", true),
            ("find . -name delete", "find -delete", false),
            ("cargo +nightly publish", "cargo publish", true),
        ] {
            assert_eq!(begins(cmd, prefix), expected, "{cmd} by {prefix}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_words_of_a_rule_match_after_any_wrapper(
            wrappers in proptest::collection::vec(proptest::sample::select(&WRAPPERS[..]), 0..4),
            options in proptest::collection::vec("(-[a-zA-Z]{1,3}|--[a-z]{2,8}(=[a-z0-9]{0,4})?|[0-9]{1,3}|[A-Z]{1,3}[+]?=[a-z0-9]{0,3})", 0..6),
            before in "((cd x && )|(true; )|(>[a-z]{1,3} )|(2>&1 )|([a-z][0-9]?=1 ))?",
            between in "((-[A-Za-z] [a-z.]{1,3} )|(--[a-z]{2,5}=x )){0,3}",
        ) {
            let mut words: Vec<String> = wrappers.iter().map(|&wrapper| wrapper.to_owned()).collect();
            if !words.is_empty() {
                words.extend(options);
            }
            let line = format!("{before}{} git {between}push origin", words.join(" "));
            proptest::prop_assert!(begins(&line, "git push"), "{line}");
        }
    }

    /// A command, as it may be spelled.
    const SPELLED: [&str; 9] = [
        "zqx push",
        "'zqx' push",
        "zq\\x pu\"sh\"",
        "A=1 zqx push x",
        ">f zqx push",
        "zqx -C d push",
        "zqx 2>&1 push",
        "/usr/bin/zqx push",
        "zqx -C \"a;b c\" push",
    ];
    /// What stands beside it.
    const BESIDE: [&str; 24] = [
        "echo \\$'a\\'",
        "echo $'it\\'s'",
        "echo \"a;b\"",
        "echo 'it'",
        "echo a#b'c'",
        "echo \"\\\\\"",
        "echo $\"a'b\"",
        "echo \"$'a\"",
        "echo @(a|b)",
        "echo a &",
        ": ${x#\\'}",
        ": ${x:-\"a b\"}",
        ": ${x%%\\}*}",
        ": <<< \"it's\"",
        "[[ a == b && -n c ]]",
        "a=(1 \"2 3\")",
        ": {fd}>x",
        "f() { :; }",
        ": $(echo \"a)b\")",
        ": $(# it's\n:)",
        "# it's\n:",
        "cat <<E\nit's\nE\n:",
        "cat <<-'E'\n\tit's $(x\n\tE\n:",
        "cat <<A <<B\na'\nA\nb'\nB\n:",
    ];
    /// What hides it: `@` stands for it, `%` for it in quotes, `~` for what stands beside it.
    const HIDING: [&str; 58] = [
        "( @ )",
        "{ @; }",
        "if @; then :; fi",
        "if x; then @; else y; fi",
        "if x; then y; elif z; then y; else @; fi",
        "while @; do :; done",
        "until x; do @; done",
        "for x in a; do @; done",
        "for x in $(@); do :; done",
        "for ((i=0;i<1;i++)); do @; done",
        "case a in a) @;; esac",
        "case a in\n  (a|b)\n    @\n    ;;\nesac",
        "case $(@) in *) :;; esac",
        "f() { @; }; f",
        "function f { @; }; f",
        "f() ( @ ); f",
        ": $(@)",
        ": \"a$(@)b\"",
        "cat <(@)",
        "cat > >(@)",
        ": ${x:-$(@)}",
        ": \"${x:-\"$(@)\"}\"",
        "[[ -n $(@) ]]",
        "(( $(@) + 1 ))",
        ": $(( $(@) ))",
        "! @",
        "@ | cat",
        "x |& @",
        ": && @",
        "x || @",
        "@ & wait",
        "~; @",
        "~\n@",
        "@; ~",
        ": $(~\n@)",
        "cat <<E; @\nit's\nE\n:",
        "cat <<E\n$(@)\nE\n:",
        "cat <<-E\n\t$(@)\n\tE\n:",
        "cat <<E > \"$(@)/f\"\nit's\nE\n:",
        "x=\"$(cat <<'E'\nit's \"x\nE\n)\" && @",
        "a=($(@))",
        "x=$(@) y=1 :",
        "> \"$(@)\" :",
        ": <<< \"$(@)\"",
        "eval %",
        "bash -c %",
        "sudo sh -c %",
        "timeout 5 bash -lc %",
        "echo a | xargs -I{} sh -c %",
        "bash <<'E'\n@\nE\n:",
        "trap % EXIT",
        "time { @; }",
        ": `@`",
        ": \"`@`\"",
        "{ @; } > f 2>&1",
        "export X=$(@)",
        "@ # it's\n:",
        "( ( @ ) )",
    ];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_command_is_found_however_it_is_hidden(
            spelled in proptest::sample::select(&SPELLED[..]),
            hidden in proptest::collection::vec(
                (proptest::sample::select(&HIDING[..]), proptest::sample::select(&BESIDE[..])), 0..5),
        ) {
            let (mut line, mut shells) = (spelled.to_owned(), 0);
            for (hiding, beside) in hidden {
                let is_shell = hiding.contains('%') || hiding.starts_with("bash <<");
                // What a substitution makes of `)` in `case`, and documents in each other, is not looked for.
                let is_odd = (hiding.contains(['(', '`']) && line.contains("case "))
                    || (hiding.contains("<<") && line.contains(['\n']))
                    || (hiding.contains('`') && line.contains(['`', '\\']));
                if is_odd || is_shell && shells == DEPTH {
                    continue;
                }
                shells += usize::from(is_shell);
                let quoted = format!("'{}'", line.replace('\'', "'\\''"));
                let part = |c: char| match c {
                    '@' => line.clone(),
                    '%' => quoted.clone(),
                    '~' => beside.to_owned(),
                    c => c.to_string(),
                };
                line = hiding.chars().map(part).collect();
            }
            proptest::prop_assert!(begins(&line, "zqx push"), "{line}");
        }
    }

    #[test]
    fn a_line_of_a_million_bytes_is_looked_through_at_once() {
        for part in ["sudo git -a ", "bash -c ", "$(", "git -a ", "<(", "`"] {
            let line = part.repeat((1 << 20) / part.len());
            begins(&line, "git push -f");
        }
    }
}
