//! The terminal: its size and colours, what it answers when asked, and the options of tmux around it.

use std::time::Duration;

use super::{Area, Finding};
use crate::dispatch::context::Host;
use crate::terminal::host_terminal::HostTerminal;

/// How long tmux may take to tell an option.
const PATIENCE: Duration = Duration::from_secs(2);
/// The smallest terminal that shows every part of the console.
const SMALLEST: (u16, u16) = (60, 15);
/// The most tmux may hold back Escape, in milliseconds.
const ESCAPE_MS: u32 = 50;

/// What the terminal itself answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Columns and rows.
    pub size: (u16, u16),
    /// It speaks the keyboard protocol of kitty.
    pub kitty_keys: bool,
    /// Columns it gives to a wide character; none when it did not say.
    pub wide_columns: Option<u16>,
    /// Its colours, and how wide it draws a mark of the console.
    pub outer: HostTerminal,
}

/// All that is known of the terminal.
#[derive(Debug, Default)]
pub(super) struct Facts {
    probe: Option<Probe>,
    term: String,
    colorterm: String,
    no_color: bool,
    locale: String,
    program: String,
    is_vte: bool,
    is_remote: bool,
    tmux: Option<Tmux>,
}

/// Options of tmux; none where it did not tell.
#[derive(Debug, Default)]
struct Tmux {
    escape_time: Option<u32>,
    set_clipboard: Option<String>,
    default_terminal: Option<String>,
}

impl Facts {
    pub(super) async fn gather(host: &dyn Host) -> Self {
        let text = |name: &str| host.variable(name).map(|value| value.to_string_lossy().into_owned());
        let full = |name: &str| text(name).filter(|value| !value.is_empty());
        let locale = full("LC_ALL").or_else(|| full("LC_CTYPE")).or_else(|| full("LANG"));
        let tmux = if full("TMUX").is_some() { Some(Tmux::ask().await) } else { None };
        Self {
            probe: host.probe_terminal(),
            term: text("TERM").unwrap_or_default(),
            colorterm: text("COLORTERM").unwrap_or_default(),
            no_color: full("NO_COLOR").is_some(),
            locale: locale.unwrap_or_default(),
            program: text("TERM_PROGRAM").unwrap_or_default(),
            is_vte: full("VTE_VERSION").is_some(),
            is_remote: full("SSH_CONNECTION").is_some(),
            tmux,
        }
    }
}

impl Tmux {
    async fn ask() -> Self {
        Self {
            escape_time: option("escape-time").await.and_then(|text| text.parse().ok()),
            set_clipboard: option("set-clipboard").await,
            default_terminal: option("default-terminal").await,
        }
    }
}

/// Asks tmux for a server option.
async fn option(name: &str) -> Option<String> {
    let mut tmux = tokio::process::Command::new("tmux");
    tmux.args(["show-options", "-sv", name]).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, tmux.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Judges what is known.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = vec![size(facts), name(facts), colours(facts), locale(facts), keys(facts), width(facts)];
    all.extend([background(facts), marks(facts)]);
    all.push(clipboard(facts));
    all.extend(facts.tmux.iter().flat_map(tmux));
    all
}

fn size(facts: &Facts) -> Finding {
    let Some(Probe { size: (columns, rows), .. }) = facts.probe else {
        return Finding::note(
            Area::Terminal,
            "size",
            "standard output is no terminal; the console needs one",
        );
    };
    let found = format!("{columns}x{rows}");
    if columns >= SMALLEST.0 && rows >= SMALLEST.1 {
        return Finding::ok(Area::Terminal, "size", found);
    }
    let (least_columns, least_rows) = SMALLEST;
    let fix = format!("enlarge the window to {least_columns}x{least_rows} or more");
    Finding::problem(Area::Terminal, "size", format!("{found}: only a pane and the status line fit"), fix)
}

fn name(facts: &Facts) -> Finding {
    match facts.term.as_str() {
        "" | "dumb" | "unknown" => {
            let found =
                format!("TERM is {:?}: programs take the terminal for one without a screen", facts.term);
            Finding::problem(Area::Terminal, "TERM", found, "export TERM=xterm-256color")
        }
        term => Finding::ok(Area::Terminal, "TERM", term),
    }
}

fn colours(facts: &Facts) -> Finding {
    let found = match (facts.no_color, facts.colorterm.as_str(), facts.term.as_str()) {
        (true, ..) => {
            return Finding::note(Area::Terminal, "colours", "none: NO_COLOR is set").fix("unset NO_COLOR");
        }
        (_, "truecolor" | "24bit", _) => "16 million",
        (.., term) if term.contains("256color") => "256",
        _ => "16",
    };
    Finding::ok(Area::Terminal, "colours", found)
}

fn locale(facts: &Facts) -> Finding {
    let name = facts.locale.to_lowercase().replace('-', "");
    if name.contains("utf8") {
        return Finding::ok(Area::Terminal, "locale", facts.locale.as_str());
    }
    let found = format!("{:?} is not UTF-8: borders and other letters may come out wrong", facts.locale);
    Finding::problem(Area::Terminal, "locale", found, "export LANG=C.UTF-8")
}

fn keys(facts: &Facts) -> Finding {
    match facts.probe {
        Some(Probe { kitty_keys: true, .. }) => {
            Finding::ok(Area::Terminal, "kitty keys", "the terminal has them")
        }
        Some(_) => {
            Finding::note(Area::Terminal, "kitty keys", "none: Ctrl-I is Tab and Ctrl-M is Enter, as ever")
        }
        None => Finding::note(Area::Terminal, "kitty keys", "not asked"),
    }
}

fn width(facts: &Facts) -> Finding {
    match facts.probe.and_then(|probe| probe.wide_columns) {
        Some(2) => Finding::ok(Area::Terminal, "wide characters", "two columns"),
        Some(other) => Finding::problem(
            Area::Terminal,
            "wide characters",
            format!("{other} columns: panes with wide characters will be out of line"),
            "choose a font and a terminal that draw East Asian wide characters in two columns",
        ),
        None => Finding::note(Area::Terminal, "wide characters", "not asked, or no answer"),
    }
}

fn background(facts: &Facts) -> Finding {
    let check = "background";
    let Some(probe) = facts.probe else { return Finding::note(Area::Terminal, check, "not asked") };
    let known = probe.outer.palette.iter().flatten().count();
    let Some((red, green, blue)) = probe.outer.background else {
        let found = format!("not told, and {known} of 16 colours: themes take it for dark");
        return Finding::note(Area::Terminal, check, found)
            .fix("with a light one, set console.theme = \"light\"");
    };
    let shade = if probe.outer.is_light() == Some(true) { "light" } else { "dark" };
    let found = format!("#{red:02x}{green:02x}{blue:02x}, {shade}; {known} of 16 colours told");
    Finding::ok(Area::Terminal, check, found)
}

fn marks(facts: &Facts) -> Finding {
    match facts.probe.and_then(|probe| probe.outer.ambiguous_columns) {
        Some(1) => Finding::ok(Area::Terminal, "marks", "one column"),
        Some(columns) => {
            let found = format!("{columns} columns: the console draws with ASCII");
            Finding::note(Area::Terminal, "marks", found)
                .fix("let the terminal draw characters of ambiguous width in one column")
        }
        None => Finding::note(Area::Terminal, "marks", "not asked, or no answer"),
    }
}

fn clipboard(facts: &Facts) -> Finding {
    let way = if facts.is_remote { "OSC 52, over ssh too" } else { "OSC 52" };
    let deaf = facts.program == "Apple_Terminal" || (facts.is_vte && facts.tmux.is_none());
    if deaf {
        let fix =
            "press m in the console and select with the terminal's own mouse, or use a terminal with OSC 52";
        return Finding::note(Area::Terminal, "clipboard", "this terminal does not take OSC 52").fix(fix);
    }
    Finding::ok(Area::Terminal, "clipboard", way)
}

fn tmux(tmux: &Tmux) -> Vec<Finding> {
    let mut all = Vec::new();
    match tmux.escape_time {
        Some(ms) if ms > ESCAPE_MS => all.push(Finding::problem(
            Area::Terminal,
            "tmux escape-time",
            format!("{ms} ms: Escape comes late"),
            "tmux set -s escape-time 10",
        )),
        Some(ms) => all.push(Finding::ok(Area::Terminal, "tmux escape-time", format!("{ms} ms"))),
        None => all.push(Finding::note(Area::Terminal, "tmux escape-time", "tmux did not tell")),
    }
    match tmux.set_clipboard.as_deref() {
        Some("on") => all.push(Finding::ok(Area::Terminal, "tmux clipboard", "on")),
        Some(other) => all.push(Finding::problem(
            Area::Terminal,
            "tmux clipboard",
            format!("set-clipboard is {other}: what is copied in the console stays there"),
            "tmux set -s set-clipboard on",
        )),
        None => all.push(Finding::note(Area::Terminal, "tmux clipboard", "tmux did not tell")),
    }
    match tmux.default_terminal.as_deref() {
        Some(name) if name.contains("256color") || name.contains("direct") => {
            all.push(Finding::ok(Area::Terminal, "tmux terminal", name));
        }
        Some(name) => all.push(Finding::problem(
            Area::Terminal,
            "tmux terminal",
            format!("default-terminal is {name}: few colours"),
            "tmux set -s default-terminal tmux-256color",
        )),
        None => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn outer() -> HostTerminal {
        HostTerminal { background: Some((30, 30, 46)), ambiguous_columns: Some(1), ..HostTerminal::default() }
    }

    #[test]
    fn what_the_terminal_answered_is_told() {
        let found = |outer| {
            let probe = good().probe.map(|probe| Probe { outer, ..probe });
            let facts = Facts { probe, ..good() };
            [background(&facts), marks(&facts)].map(|finding| finding.found)
        };
        assert_eq!(found(outer()), ["#1e1e2e, dark; 0 of 16 colours told", "one column"]);
        let silent = found(HostTerminal::default());
        assert!(silent[0].contains("not told") && silent[1].contains("no answer"), "{silent:?}");
        let wide = HostTerminal { ambiguous_columns: Some(2), ..outer() };
        assert!(found(wide)[1].contains("ASCII"));
    }

    fn good() -> Facts {
        Facts {
            probe: Some(Probe { size: (120, 40), kitty_keys: true, wide_columns: Some(2), outer: outer() }),
            term: "xterm-256color".into(),
            colorterm: "truecolor".into(),
            locale: "C.UTF-8".into(),
            ..Facts::default()
        }
    }

    fn problems(facts: &Facts) -> Vec<(&'static str, Option<String>)> {
        let bad = findings(facts).into_iter().filter(|finding| finding.state == State::Problem);
        bad.map(|finding| (finding.check, finding.fix)).collect()
    }

    #[test]
    fn a_good_terminal_has_no_problem() {
        assert_eq!(problems(&good()), []);
        let pipe = Facts { probe: None, ..good() };
        assert_eq!(problems(&pipe), []);
    }

    #[test]
    fn each_problem_has_its_fix() {
        let small = Probe { size: (59, 40), kitty_keys: false, wide_columns: Some(1), outer: outer() };
        let tmux = Tmux {
            escape_time: Some(500),
            set_clipboard: Some("external".into()),
            default_terminal: Some("screen".into()),
        };
        let facts = Facts {
            probe: Some(small),
            term: "dumb".into(),
            locale: "POSIX".into(),
            tmux: Some(tmux),
            ..Facts::default()
        };
        let found = problems(&facts);
        let names: Vec<_> = found.iter().map(|(check, _)| *check).collect();
        assert_eq!(
            names,
            [
                "size",
                "TERM",
                "locale",
                "wide characters",
                "tmux escape-time",
                "tmux clipboard",
                "tmux terminal"
            ]
        );
        assert!(found.iter().all(|(_, fix)| fix.is_some()));
    }
}
