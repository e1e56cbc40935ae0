//! Programs that use the full screen.

use super::material::CODE;
use super::session::Stage;

#[test]
fn vim_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("vim", &["vim"]) else { return };
    let mut vim = stage.file("ship.rs", CODE).run("vim -u NONE -N ship.rs");
    vim.shows("//! A ship").checkpoint("opened");
    vim.types(":syntax on\r:set number cursorline hlsearch list\r/ship\r:echo 'found'\r").shows("\nfound");
    vim.checkpoint("highlighted");
    vim.types(":set nolist\r:colorscheme blue\r:echo 'blue now'\r")
        .shows("\nblue now")
        .checkpoint("on a background");
    vim.types("10\x05:echo 'down'\r").shows("\ndown").checkpoint("scrolled");
    vim.types("4\x19:echo 'up'\r").shows("\nup").checkpoint("scrolled back");
    vim.types("ggVjjj").shows("VISUAL LINE").checkpoint("selected");
    vim.types("d:vsplit\r:split\r:echo 'split'\r").shows("\nsplit").checkpoint("split");
    vim.types("Oinserted 漢字 and e\u{301}\x1b:echo 'typed'\r").shows("\ntyped").checkpoint("typed into");
    vim.types("ggOline\x1b5dd5u:echo 'undone'\r").shows("\nundone").checkpoint("deleted and brought back");
    vim.types(":qall!\r").ends();
    vim.is_compared();
}

#[test]
fn less_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("less", &["less"]) else { return };
    let rows: String = (1..=300)
        .map(|n| match n % 7 {
            0 => format!("row {n} u\x08un\x08nd\x08de\x08er\x08r o\x08_v\x08_e\x08_r\x08_\n"),
            3 => format!("row {n} \x1b[1;33myellow\x1b[0m and \x1b[44mblue\x1b[K\x1b[0m\n"),
            5 => format!("row {n} {}\n", "goes on and on ".repeat(9)),
            _ => format!("row {n}\n"),
        })
        .collect();
    let mut less = stage.file("log", &rows).run("less -R -M log");
    less.shows("lines 1-").checkpoint("opened");
    less.types("/row 1[05]\r").shows("lines 10-").checkpoint("found");
    less.types("n").shows("lines 15-").types("j").shows("lines 16-").checkpoint("on");
    less.types("kkk").shows("lines 13-").checkpoint("back");
    less.types("-S")
        .shows("Chop long lines")
        .types("\r")
        .types("G")
        .shows("(END)")
        .checkpoint("chopped, at the end");
    less.presses(&["Right"]).hides("row 29").checkpoint("to the side");
    less.presses(&["Left"]).shows("row 29");
    less.types("g-N").shows("line numbers").types("\r").shows("      1 ").checkpoint("with numbers");
    less.types("&row 2\r").shows("& ").checkpoint("filtered");
    less.types("h").shows("SUMMARY OF LESS").checkpoint("help").types("q").shows("& ");
    less.types("q").ends();
    less.is_compared();
}

#[test]
fn htop_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("htop", &["htop"]) else { return };
    let mut htop = stage.run("htop -d 100");
    htop.shows("F10").shows("PID").checkpoint("opened");
    htop.presses(&["F5"]).shows("├─").checkpoint("as a tree");
    htop.presses(&["F6"]).shows("Sort by").checkpoint("sorting").presses(&["Esc"]);
    htop.presses(&["F1"]).shows("CPU usage bar").checkpoint("help").types("q").shows("F10");
    htop.presses(&["Down", "Down"]).types(" ").checkpoint("tagged");
    htop.presses(&["F10"]).ends();
    htop.is_compared();
}

#[test]
fn top_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("top", &["top"]) else { return };
    let mut top = stage.run("top -d 100");
    top.shows("PID").checkpoint("opened");
    // Of several keys at once it takes only the first, so the effect of each is waited for.
    top.types("z").is_coloured().types("t").shows("[").checkpoint("in colour");
    top.types("V").shows("`-").checkpoint("as a tree");
    top.types("h").shows("Help for Interactive Commands").checkpoint("help").types("q").shows("PID");
    top.types("q").ends();
    top.is_compared();
}

#[test]
fn tmux_inside_looks_the_same_in_a_pane_and_in_tmux() {
    let Some(stage) = Stage::with("tmux inside", &["tmux"]) else { return };
    // Tests type so fast that it would take keys for a paste.
    let stage =
        stage.file("tmux.conf", "set -g assume-paste-time 0\nset -g default-command 'PS1=\"$ \" exec sh'\n");
    let mut inner = stage.run("tmux -u -S ../inner.sock -f tmux.conf new-session");
    inner.shows("[0] 0:").shows("$\n").checkpoint("opened");
    inner.types("printf '\\033[31mred\\033[m 漢字 \\033[1;44mbold\\033[K\\033[m\\n'\r").shows("漢字 bold\n");
    inner.checkpoint("printed");
    inner.types("\x02%").shows("│$").types("\x02\"").shows("├───").checkpoint("split");
    inner
        .types("\x02:")
        .shows("\n:")
        .types("split-window -h 'seq 1000; read x'\r")
        .shows("│1000")
        .checkpoint("filled");
    inner
        .types("\x02[")
        .shows("[0/")
        .presses(&["PageUp"])
        .hides("1000")
        .checkpoint("scrolled back")
        .types("q")
        .shows("│1000");
    inner.types("\x02?").shows("C-b C-b").checkpoint("help").types("q").shows("│1000");
    inner.types("\x02:").shows("\n:").types("kill-session\r").ends();
    inner.is_compared();
}
