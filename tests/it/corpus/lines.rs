//! Line-oriented programs: shells, tools, dialogues.

use std::process::Command;

use super::material::repository;
use super::session::Stage;
use crate::support::skip;

#[test]
fn bash_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("bash", &["bash"]) else { return };
    let stage = stage.file("harbour/north.txt", "").file("harbour/south.txt", "");
    let mut bash = stage
        .run(r"PS1='\[\033[1;32m\]ship\[\033[m\]:\[\033[34m\]\W\[\033[m\]> ' bash --norc --noprofile -i");
    bash.shows("ship:work>")
        .types("echo one two three")
        .presses(&["Home", "C-Right", "Right"])
        .types("zero ");
    bash.shows("> echo zero one")
        .checkpoint("edited in the middle")
        .types("\r")
        .shows("\nzero one two three")
        .prompts("ship:work>");
    bash.types("ls harbour/\t\t")
        .shows("south.txt")
        .checkpoint("completed")
        .types("\x15")
        .prompts("ship:work>");
    bash.types(&format!("echo {}", "0123456789".repeat(11)))
        .shows("\n456789012345678901234567890123456789012345");
    bash.checkpoint("longer than a row");
    bash.types("\x01\x0b").hides("> echo 0123456789").checkpoint("taken away");
    bash.types("\x19").shows("> echo 0123456789").checkpoint("brought back").types("\x15");
    bash.hides("> echo 0123456789").types("\x12zer").shows("(reverse-i-search)`zer'").checkpoint("searched");
    bash.types("\x07").hides("reverse-i-search").types("\x15");
    bash.types("printf '\\e[7m%-80s\\e[m\\n' 'a row as wide as the screen'\r")
        .shows("\na row as wide")
        .prompts("ship:work>");
    bash.types("seq 1 40 | pr -8 -t -l 5\r").shows("40\n").prompts("ship:work>").checkpoint("in columns");
    bash.types("echo 漢字 e\u{301} 🚢")
        .shows("🚢")
        .presses(&["Left", "Left", "Left", "Backspace"])
        .types("x")
        .shows("漢字x");
    bash.checkpoint("wide characters");
    bash.types("\x0c").hides("a row as wide").checkpoint("cleared").types("\x05\x15exit\r").ends();
    bash.is_compared();
}

#[test]
fn a_progress_bar_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("progress", &[]) else { return };
    let mut bar = stage.run(
        r#"n=0
        while [ $n -lt 40 ]; do
            n=$((n + 1))
            printf '\r\033[K\033[32m['; printf '%*s' $n '' | tr ' ' '#'; printf '%*s' $((40 - n)) ''
            printf ']\033[m %3d %%' $((n * 100 / 40))
            [ $n = 20 ] && printf '\r\033[Khalf of it is done\n'
        done
        read next; printf '\rdone: %-60s\n' ''; printf '\033[1A\033[2Kone up'; read next"#,
    );
    bar.shows("100 %")
        .checkpoint("full")
        .types("\r")
        .shows("one up")
        .checkpoint("gone up")
        .types("\r")
        .ends();
    bar.is_compared();
}

#[test]
fn python_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("python", &["python3"]) else { return };
    let mut python = stage.run("python3 -q -X utf8");
    // Text typed between an output and the next prompt would be echoed twice: by the kernel, then by python.
    python
        .shows(">>>")
        .types("for n in range(3):\r")
        .shows("...")
        .types("    print('é漢' * n, n)\r\r")
        .shows("漢 2")
        .prompts(">>>");
    python.types("print('x' * 100)").presses(&["Left", "Left"]).types("0").shows("1000").checkpoint("edited");
    python.types("\r").shows("xxx\n").prompts(">>>");
    python.types("1 / 0\r").shows("ZeroDivisionError").prompts(">>>").checkpoint("an error");
    python
        .types("import sys; sys.stdout.write('\\x1b[35mmagenta\\x1b[0m ☃ 🐍\\n')\r")
        .shows("\nmagenta ☃ 🐍\n")
        .prompts(">>>")
        .checkpoint("in colour");
    python.types("exit()\r").ends();
    python.is_compared();
}

const CURSES: &str = r#"
import curses
def main(screen):
    curses.use_default_colors()
    for n in range(1, 8):
        curses.init_pair(n, n, -1)
        curses.init_pair(n + 8, 0, n)
    screen.border()
    window = curses.newwin(10, 40, 3, 10)
    window.bkgd(" ", curses.color_pair(12))
    window.box()
    window.addstr(1, 2, "curses", curses.A_BOLD | curses.A_UNDERLINE)
    for n in range(1, 8):
        window.addstr(n + 1, 2, "colour %d" % n, curses.color_pair(n))
        window.addstr(n + 1, 14, "on colour", curses.color_pair(n + 8) | curses.A_REVERSE)
    screen.hline(15, 2, curses.ACS_HLINE, 30)
    screen.vline(15, 40, curses.ACS_VLINE, 5)
    screen.addch(16, 2, curses.ACS_DIAMOND)
    screen.addch(16, 4, curses.ACS_CKBOARD)
    screen.addstr(17, 2, "漢字 and é")
    screen.refresh()
    window.refresh()
    screen.getkey()
    window.scrollok(True)
    window.scroll(3)
    window.refresh()
    screen.move(16, 0)
    screen.insertln()
    screen.addstr(16, 2, "inserted")
    screen.refresh()
    screen.getkey()
curses.wrapper(main)
"#;

#[test]
fn curses_look_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("curses", &["python3"]) else { return };
    if !Command::new("python3").args(["-c", "import curses"]).output().is_ok_and(|told| told.status.success())
    {
        return skip("the python of this machine has no curses");
    }
    let mut curses = stage.file("main.py", CURSES).run("python3 main.py");
    curses
        .shows("colour 7")
        .shows("└──")
        .checkpoint("opened")
        .types("x")
        .shows("inserted")
        .checkpoint("scrolled");
    curses.types("x").ends();
    curses.is_compared();
}

#[test]
fn git_log_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("git", &["git", "less"]) else { return };
    repository(&stage.workspace());
    // Short output fits the screen, and the pager prints it and exits at once.
    let mut git = stage.run(
        "export GIT_PAGER='less -R'; git log --graph --color=always --stat; clear
        git diff --color-words HEAD~3; git status; read next",
    );
    git.shows("(HEAD -> main)").checkpoint("opened");
    git.types("/side 3\r").shows("港 🚢").checkpoint("found");
    git.types("G").shows("(END)").checkpoint("at the end");
    git.types("q").shows("nothing to commit").checkpoint("words").types("\r").ends();
    git.is_compared();
}

#[test]
fn cargo_build_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("cargo", &["cargo"]) else { return };
    // A cargo managed by rustup may have no toolchain for this user.
    if !Command::new("cargo").arg("--version").output().is_ok_and(|told| told.status.success()) {
        return skip("the cargo of this machine does not run for this user");
    }
    let stage = stage
        .file(
            "Cargo.toml",
            "[package]\nname = \"harbour\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
        )
        .file("src/main.rs", "fn main() {\n    let unused = 1;\n    println!(\"{}\", missing);\n}\n");
    let mut cargo = stage.run(
        "export CARGO_NET_OFFLINE=true CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=60
        cargo build --color always; read next
        printf 'fn main() {\\n    let unused = 1;\\n    println!(\"built\");\\n}\\n' > src/main.rs
        cargo run --color always; read next",
    );
    cargo.shows("Compiling").shows("could not compile").checkpoint("an error").types("\r");
    cargo.shows("\nbuilt").checkpoint("a warning").types("\r").ends();
    cargo.is_compared();
}

#[test]
fn npm_init_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("npm", &["npm"]) else { return };
    let mut npm =
        stage.run("export npm_config_update_notifier=false npm_config_offline=true; npm init; read next");
    npm.shows("package name: (work)").checkpoint("asked").types("harbour\r");
    npm.shows("version: (1.0.0)").types("\x7f2.1.0").shows("2.1.0").checkpoint("answered").types("\r");
    npm.shows("description:").types("\x03").shows("cancel").checkpoint("left").types("\r").ends();
    npm.is_compared();
}
