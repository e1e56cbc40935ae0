//! The command lines, by area: a name and what bash is given. `TAG` is a sleep of five minutes that nobody waits for.

/// One command line.
pub(super) type Row = (&'static str, &'static str);

/// All command lines.
pub(super) fn rows() -> Vec<Row> {
    [PLAIN, SUBSTITUTION, KILLS, GROUPS, TRAPS, JOBS, HERE, SCREENS, LONG, EDITORS, COLOURS, FIFOS, DAEMONS]
        .concat()
}

/// Everyday commands: streams, exit codes, quoting, files.
const PLAIN: &[Row] = &[
    ("nothing", ":"),
    ("echo", "echo hello"),
    ("no line feed", "printf hello"),
    ("both streams", "echo out; echo err >&2"),
    ("streams in turn", "for i in 1 2 3; do echo o$i; echo e$i >&2; done"),
    ("merged streams", "{ echo a; echo b >&2; } 2>&1"),
    ("swapped streams", "{ echo a; echo b >&2; } 3>&1 1>&2 2>&3"),
    ("exit 3", "exit 3"),
    ("exit 255", "exit 255"),
    ("false", "false"),
    ("not found", "no-such-command-here"),
    ("not executable", "echo x > f; ./f"),
    ("syntax error", "if then"),
    ("set -e", "set -e; echo a; false; echo b"),
    ("set -u", "set -u; echo $nothing"),
    ("pipefail", "set -o pipefail; false | true"),
    ("pipestatus", "false | true | exit 4; echo ${PIPESTATUS[@]}"),
    ("name of the shell", "echo $0"),
    ("arguments", "echo $# \"$@\""),
    ("quotes", r#"echo 'a "b" $c' "d '$HOME'" | wc -c"#),
    ("unicode", "echo 'äöü 漢字 🦀'"),
    ("every byte", r"for i in $(seq 1 255); do printf \\$(printf %o $i); done"),
    ("a NUL byte", r"printf 'a\0b\n'"),
    ("carriage returns", r"printf 'one\rtwo\r\nthree\n'"),
    ("backspaces", r"printf 'abc\b\bX\n'"),
    ("standard input is empty", "cat; read x; echo $?"),
    ("redirections", "echo a > f; echo b >> f; cat < f"),
    ("noclobber", "set -C; echo a > f; echo b > f; cat f"),
    ("descriptors", "exec 3> f; echo a >&3; exec 3>&-; cat f"),
    ("closed output", "echo a >&-; echo $?"),
    ("full disk", "echo a > /dev/full; echo $?"),
    ("directories", "mkdir -p a/b; cd a/b; touch f; echo ${PWD##*/}"),
    ("globs", "touch a b c; echo *"),
    ("links", "echo x > f; ln -s f g; cat g"),
    ("modes", "umask 077; touch f; stat -c %a f"),
    ("arithmetic", "echo $((6 * 7)) $((1 << 40))"),
    ("arrays", "a=(x y z); echo ${a[1]} ${#a[@]}"),
    ("functions", "f() { local x=$1; return $((x + 1)); }; f 4; echo $?"),
    ("subshells", "(cd /; exit 5); echo $?"),
    ("loops and breaks", "for i in {1..9}; do [ $i = 4 ] && break; echo $i; done"),
    ("a leading dash", "- 2>/dev/null; echo $?"),
    ("many lines", "seq 20000"),
    ("many lines on both streams", "seq 5000; seq 5000 >&2"),
    ("a pipe that is closed early", "yes | head -3"),
    ("a megabyte", "head -c 1000000 /dev/zero | tr '\\0' x"),
    ("exec", "exec echo replaced"),
    ("eval", "x='echo evaluated'; eval $x"),
    ("command substitution", "echo $(echo a; echo b)"),
    ("a subshell in the background", "(echo a; sleep .1; echo b) & wait"),
    ("a while", "sleep .1; echo done"),
];

const SUBSTITUTION: &[Row] = &[
    ("reads from a command", "cat <(echo a) <(echo b)"),
    ("compares two commands", "diff <(seq 3) <(seq 2 4)"),
    ("writes to a command", "seq 3 > >(sleep .5; cat > g); true"),
    ("sorts behind its back", "seq 100000 -1 1 > >(sort -n > f); true"),
    ("sums behind its back", "seq 3 > >(awk '{ s += $1 } END { print s }' > f); true"),
    ("tees to a compressor", "seq 20000 | tee >(gzip -n > z.gz) | wc -c"),
    ("tees to two", "seq 9 | tee >(sleep .3; tail -1 > f) >(sleep .2; head -1 > g) > /dev/null"),
    ("a pipeline behind its back", "seq 3 > >(cat | (sleep .2; cat) | tac > f); true"),
    ("nested", "seq 3 > >(cat > >(sleep .2; tac > f)); true"),
    ("its own standard output", "exec > >(sed 's/^/> /'); echo a; echo b"),
    ("prints late", "echo a > >(sleep .3; cat); true"),
    ("exits early", "seq 3 > >(sleep .3; cat > f); exit 7"),
    ("standard error", "{ echo a; echo b >&2; } 2> >(sed 's/^/! /'); sleep .1"),
    ("a loop reads", "while read x; do echo got $x; done < <(seq 3)"),
    (
        "a loop reads in the background",
        "{ while read -u 5 x; do sleep .1; echo $x >> f; done; } 5< <(seq 3) & until [ -s f ]; do sleep .01; done",
    ),
    ("a coprocess", "coproc { read x; sleep .2; echo $x > f; }; echo hi >&${COPROC[1]}"),
    (
        "computes in the background",
        "(i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; echo $i > f) & true",
    ),
];

const KILLS: &[Row] = &[
    ("kills itself", "kill -9 $$"),
    ("ends itself", "kill $$"),
    ("interrupts itself", "kill -INT $$; echo after"),
    ("hangs itself up", "kill -HUP $$"),
    ("quits itself", "ulimit -c 0; kill -QUIT $$; echo after"),
    ("aborts", "ulimit -c 0; kill -ABRT $$"),
    ("user signal", "kill -USR1 $$"),
    ("broken pipe", "(sleep .1; echo x; echo $? >&2) | true; sleep .2"),
    ("kills a child", "exec 2> /dev/null; sleep 9 & kill -9 $!; wait $!; echo $?"),
    ("kills by name of a job", "sleep 9 & kill %1; wait; echo done"),
    ("time limit", "timeout .1 sleep 9; echo $?"),
    ("time limit with kill", "exec 2> /dev/null; timeout -s KILL .1 sleep 9; echo $?"),
    ("kills its group", "trap 'exit 9' TERM; setsid -w bash -c 'kill 0; sleep 9'; echo $?"),
    ("a segment fault", "exec 2> /dev/null; ulimit -c 0; bash -c 'kill -SEGV $$'; echo $?"),
    ("stops and continues a child", "(sleep .1; echo x) & kill -STOP $!; kill -CONT $!; wait"),
];

const GROUPS: &[Row] = &[
    ("a session of its own", "setsid -w sh -c 'echo inside; exit 4'; echo $?"),
    ("a session in the background", "setsid sh -c 'echo inside' & wait"),
    ("a group of its own", "perl -e 'setpgrp; exec qw(echo inside)'"),
    ("a group in the foreground", "timeout --foreground 5 echo inside"),
    ("a group with a time limit", "timeout 5 sh -c 'cat; echo inside'"),
    ("python in a group", "python3 -c 'import os; os.setpgid(0, 0); print(\"inside\")'"),
    ("is it the leader", "perl -e 'print getpgrp() == $$ ? 1 : 0'; echo"),
    ("two groups in a pipe", "set -m; seq 3 | tac; echo $?"),
];

const TRAPS: &[Row] = &[
    ("exit", "trap 'echo bye' EXIT; echo hi"),
    ("exit with a code", "trap 'echo $?' EXIT; exit 6"),
    ("exit that changes the code", "trap 'exit 8' EXIT; exit 6"),
    ("term", "trap 'echo term; exit 5' TERM; kill $$; sleep 1"),
    ("ignored", "trap '' TERM; kill $$; echo still here"),
    ("int", "trap 'echo int' INT; kill -INT $$; echo after"),
    ("usr1", "trap 'echo usr1' USR1; kill -USR1 $$; echo after"),
    ("err", "trap 'echo err $?' ERR; false; true"),
    ("debug", "trap 'echo -n .' DEBUG; :; :"),
    ("return", "f() { trap 'echo left' RETURN; :; }; f"),
    ("child", "exec 2> /dev/null; set -m; trap 'echo chld' CHLD; true & wait; :"),
    ("in a subshell", "trap 'echo outer' EXIT; (trap 'echo inner' EXIT; :)"),
    ("listed", "trap ': x' TERM; trap"),
    ("what is ignored from the start", "grep SigIgn /proc/self/status | tail -c 8"),
    ("what is blocked from the start", "grep SigBlk /proc/self/status | tail -c 8"),
];

const JOBS: &[Row] = &[
    ("wait", "sleep .1 & wait $!; echo $?"),
    ("wait for one", "(sleep .1; exit 3) & wait -n; echo $?"),
    ("wait for all", "for i in 1 2 3; do (exit $i) & done; wait; echo $?"),
    ("jobs", "sleep .2 & jobs; wait"),
    ("disown", "sleep .1 & disown; jobs; echo $?"),
    ("job control", "set -m; sleep .1 & fg %1"),
    (
        "stopped and continued",
        "exec 2> /dev/null; set -m; (kill -STOP $BASHPID; echo on) & until grep -q 'T (' /proc/$!/status; do sleep .01; done; bg > /dev/null; wait",
    ),
    ("nohup", "nohup echo x < /dev/null"),
    ("no terminal", "[ -t 0 ]; echo $?; [ -t 1 ]; echo $?"),
    ("interactive", "timeout 9 bash --norc -ic 'echo inside' 2> /dev/null"),
];

const HERE: &[Row] = &[
    ("document", "cat <<E\na $((1 + 1))\nb\nE"),
    ("quoted document", "cat <<'E'\na $x `y`\nE"),
    ("indented document", "cat <<-E\n\ta\n\tb\n\tE"),
    ("string", "cat <<< 'a b'"),
    ("two documents", "paste /dev/fd/3 /dev/fd/4 3<<A 4<<B\n1\nA\n2\nB"),
    ("document into a loop", "while read x; do echo \"[$x]\"; done <<E\na\nb\nE"),
    ("long document", "wc -c <<E\n$(seq 50000)\nE"),
    ("unterminated document", "cat <<E\na"),
    ("document for another shell", "sh -s <<'E'\necho inside; exit 6\nE"),
    ("document in a function", "f() { cat <<E\n$1\nE\n}; f x; f y"),
];

const SCREENS: &[Row] = &[
    ("alternate screen", r"printf '\033[?1049hinside\033[?1049loutside\n'"),
    ("alternate screen left on", r"printf 'a\n\033[?1049h\033[2J\033[H'; echo boom; exit 101"),
    ("clears", r"printf 'a\n\033[2J\033[Hb\n'"),
    ("colours", r"printf '\033[31mred\033[0m\n'"),
    ("title", r"printf '\033]0;title\007after\n'"),
    ("an image", r"printf '\033_Gf=100;'; head -c 9000 /dev/zero | tr '\0' A; printf '\033\\after\n'"),
    ("moves", r"printf 'ab\033[1Dc\n'"),
    ("a stray escape", r"printf 'a\033'; echo b"),
];

const LONG: &[Row] = &[
    ("a line of 5,000", "head -c 5000 /dev/zero | tr '\\0' x; echo; echo end"),
    ("a line of 100,000", "head -c 100000 /dev/zero | tr '\\0' x; echo; echo end"),
    ("a line of two megabytes", "head -c 2000000 /dev/zero | tr '\\0' x; echo NEEDLE; echo next"),
    ("a long line of two bytes each", "for i in {1..3000}; do printf é; done; echo"),
    (
        "a long command",
        concat!(
            "x='",
            "0123456789012345678901234567890123456789012345678901234567890123456789",
            "'; for i in 1 2 3; do x=$x$x$x; done; echo ${#x}"
        ),
    ),
    ("a long argument", "/bin/echo $(seq 20000) | wc -c"),
    ("no line feed at the end of much", "seq 3000 | tr '\\n' ' '"),
];

const EDITORS: &[Row] = &[
    ("amend", "GIT && git commit -q --allow-empty --amend -m b; git --no-pager log --format=%s"),
    (
        "EDITOR",
        "GIT && EDITOR='sed -i 1s/a/b/' git commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "VISUAL",
        "GIT && TERM=xterm VISUAL='sed -i 1s/a/b/' git commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "exported EDITOR",
        "GIT && export EDITOR='sed -i 1s/a/b/'; git commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "GIT_EDITOR",
        "GIT && GIT_EDITOR='sed -i 1s/a/b/' git commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "core.editor",
        "GIT && git -c core.editor='sed -i 1s/a/b/' commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "core.editor from variables",
        "GIT && GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.editor GIT_CONFIG_VALUE_0='sed -i 1s/a/b/' git commit -q --allow-empty --amend; git --no-pager log --format=%s",
    ),
    (
        "rebase with core.editor",
        "GIT && git commit -q --allow-empty -m two && git commit -q --allow-empty -m three && git -c core.editor='sed -i 1s/pick/drop/' rebase -q -i HEAD~2; git --no-pager log --format=%s",
    ),
    (
        "rebase with a sequence editor",
        "GIT && git commit -q --allow-empty -m two && GIT_SEQUENCE_EDITOR='sed -i 1s/pick/drop/' git rebase -q -i HEAD~1; git --no-pager log --format=%s",
    ),
    ("an editor that fails", "GIT && EDITOR=false git commit -q --allow-empty --amend 2> /dev/null; echo $?"),
    ("a pager", "GIT && git log --format=%s"),
    ("another editor for another program", "EDITOR=ed; echo $EDITOR ${VISUAL-none}"),
];

const COLOURS: &[Row] = &[
    ("FORCE_COLOR for node", "FORCE_COLOR=1 node -e 'console.log(1)'"),
    ("NO_COLOR of the command", "NO_COLOR=1 sh -c 'echo $NO_COLOR'"),
    ("NO_COLOR is not set", "echo ${NO_COLOR-unset}"),
    ("CLICOLOR_FORCE", "CLICOLOR_FORCE=1 sh -c 'echo $CLICOLOR_FORCE'"),
    ("colour of grep", "echo abc | grep --color=always b"),
    ("colour of ls", "touch f; ls --color=auto"),
    ("TERM of the command", "TERM=vt100 sh -c 'echo $TERM'"),
    ("PAGER of the command", "PAGER=more sh -c 'echo $PAGER'"),
];

const FIFOS: &[Row] = &[
    ("reader first", "mkfifo p; cat p > f & echo x > p; wait; cat f"),
    ("writer first", "mkfifo p; echo x > p & cat p"),
    ("reader in the background", "mkfifo p; (sleep .3; cat > f) < p & seq 3 > p"),
    ("both ways", "mkfifo p q; (read x < p; echo got $x > q) & echo a > p; cat q"),
    ("a loop", "mkfifo p; (for i in 1 2 3; do echo $i; done > p) & while read x; do echo $x; done < p"),
    (
        "two writers",
        "mkfifo p; exec 3<> p; echo a > p; (sleep .1; echo b > p) & read x <&3; read y <&3; echo $x $y",
    ),
    ("held open", "mkfifo p; exec 3<> p; echo x >&3; read y <&3; echo $y"),
    ("tee to one", "mkfifo p; cat p > f & echo x | tee p; wait"),
];

const DAEMONS: &[Row] = &[
    ("in the background", "sleep TAG & echo started"),
    ("quiet", "sleep TAG > /dev/null 2>&1 & echo started"),
    ("with a logger", "(sleep TAG | tee log) & echo started"),
    ("behind a logger", "exec > >(tee log) 2>&1; sleep TAG & echo started"),
    ("with a session", "setsid sleep TAG > /dev/null 2>&1 < /dev/null & echo started"),
    ("forked twice", "(setsid sh -c 'sleep TAG & :' > /dev/null 2>&1 < /dev/null &); echo started"),
    ("with nohup", "nohup sleep TAG > log 2>&1 & echo started"),
    ("beside a reader", "sleep TAG > /dev/null 2>&1 & seq 3 > >(sleep .2; cat > f); true"),
    ("exits with a code", "sleep TAG > /dev/null 2>&1 & exit 3"),
];
