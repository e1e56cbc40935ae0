//! Checks of the terminal: its size and colours, its answers to queries, and the options of an enclosing tmux.

use std::time::Duration;

use super::finding::Area::Terminal;
use super::finding::DoctorFinding;
use crate::dispatch::host::{Host, Probe};

/// How long tmux may take to report an option.
const PATIENCE: Duration = Duration::from_secs(2);
/// The smallest terminal that can show every part of the console.
const SMALLEST: (u16, u16) = (60, 15);
/// The longest that tmux should delay Escape, in milliseconds.
const ESCAPE_MS: u32 = 50;

/// What is known about the terminal.
#[derive(Debug, Default)]
pub(super) struct TerminalFacts {
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

/// Options of tmux; `None` if it did not report them.
#[derive(Debug, Default)]
struct Tmux {
    escape_time: Option<u32>,
    set_clipboard: Option<String>,
    default_terminal: Option<String>,
}

impl TerminalFacts {
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

/// Queries a server option of tmux.
async fn option(name: &str) -> Option<String> {
    let mut tmux = tokio::process::Command::new("tmux");
    tmux.args(["show-options", "-sv", name]).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, tmux.output()).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Evaluates what is known.
pub(super) fn findings(known: &TerminalFacts) -> Vec<DoctorFinding> {
    let mut all = vec![size(known), name(known), colours(known), locale(known), keys(known), width(known)];
    all.extend([background(known), marks(known)]);
    all.push(clipboard(known));
    all.extend(known.tmux.iter().flat_map(tmux));
    all
}

fn size(known: &TerminalFacts) -> DoctorFinding {
    let Some(Probe { size: (columns, rows), .. }) = known.probe else {
        return Terminal.note("size", "standard output is not a terminal; the console needs one");
    };
    let found = format!("{columns}x{rows}");
    if columns >= SMALLEST.0 && rows >= SMALLEST.1 {
        return Terminal.ok("size", found);
    }
    let (least_columns, least_rows) = SMALLEST;
    let fix = format!("enlarge the window to at least {least_columns}x{least_rows}");
    Terminal.problem("size", format!("{found}: only a pane and the status line fit"), fix)
}

fn name(known: &TerminalFacts) -> DoctorFinding {
    match known.term.as_str() {
        "" | "dumb" | "unknown" => {
            let found = format!("TERM is {:?}: programs assume a terminal without a screen", known.term);
            Terminal.problem("TERM", found, "export TERM=xterm-256color")
        }
        term => Terminal.ok("TERM", term),
    }
}

fn colours(known: &TerminalFacts) -> DoctorFinding {
    let found = match (known.no_color, known.colorterm.as_str(), known.term.as_str()) {
        (true, ..) => {
            return Terminal.note("colours", "none: NO_COLOR is set").fix("unset NO_COLOR");
        }
        (_, "truecolor" | "24bit", _) => "16 million",
        (.., term) if term.contains("256color") => "256",
        _ => "16",
    };
    Terminal.ok("colours", found)
}

fn locale(known: &TerminalFacts) -> DoctorFinding {
    let name = known.locale.to_lowercase().replace('-', "");
    if name.contains("utf8") {
        return Terminal.ok("locale", known.locale.as_str());
    }
    let found =
        format!("{:?} is not UTF-8: borders and non-English letters may be drawn wrong", known.locale);
    Terminal.problem("locale", found, "export LC_ALL=C.UTF-8")
}

fn keys(known: &TerminalFacts) -> DoctorFinding {
    match known.probe {
        Some(Probe { kitty_keys: true, .. }) => Terminal.ok("kitty keys", "supported"),
        Some(_) => Terminal.note("kitty keys", "not supported: Ctrl-I is Tab and Ctrl-M is Enter, as usual"),
        None => Terminal.note("kitty keys", "not asked"),
    }
}

fn width(known: &TerminalFacts) -> DoctorFinding {
    match known.probe.and_then(|probe| probe.wide_columns) {
        Some(2) => Terminal.ok("wide characters", "two columns"),
        Some(other) => Terminal.problem(
            "wide characters",
            format!("{other} columns: panes with wide characters will be misaligned"),
            "choose a font and a terminal that draw East Asian wide characters in two columns",
        ),
        None => Terminal.note("wide characters", "not asked, or no answer"),
    }
}

fn background(known: &TerminalFacts) -> DoctorFinding {
    let check = "background";
    let Some(probe) = known.probe else { return Terminal.note(check, "not asked") };
    let known = probe.host.palette.iter().flatten().count();
    let Some((red, green, blue)) = probe.host.background else {
        let found = format!("not reported, and {known} of 16 colours: themes assume it is dark");
        return Terminal.note(check, found).fix("if it is light, set console.theme = \"light\"");
    };
    let shade = if probe.host.is_light() == Some(true) { "light" } else { "dark" };
    let found = format!("#{red:02x}{green:02x}{blue:02x}, {shade}; {known} of 16 colours reported");
    Terminal.ok(check, found)
}

fn marks(known: &TerminalFacts) -> DoctorFinding {
    match known.probe.and_then(|probe| probe.host.ambiguous_columns) {
        Some(1) => Terminal.ok("marks", "one column"),
        Some(columns) => {
            let found = format!("{columns} columns: the console draws with ASCII");
            Terminal
                .note("marks", found)
                .fix("set the terminal to draw characters of ambiguous width in one column")
        }
        None => Terminal.note("marks", "not asked, or no answer"),
    }
}

fn clipboard(known: &TerminalFacts) -> DoctorFinding {
    let way = if known.is_remote { "OSC 52, over ssh too" } else { "OSC 52" };
    let deaf = known.program == "Apple_Terminal" || (known.is_vte && known.tmux.is_none());
    if deaf {
        let fix =
            "press m in the console and select with the terminal's own mouse, or use a terminal with OSC 52";
        return Terminal.note("clipboard", "this terminal does not take OSC 52").fix(fix);
    }
    Terminal.ok("clipboard", way)
}

fn tmux(tmux: &Tmux) -> Vec<DoctorFinding> {
    let mut all = Vec::new();
    match tmux.escape_time {
        Some(ms) if ms > ESCAPE_MS => all.push(Terminal.problem(
            "tmux escape-time",
            format!("{ms} ms: Escape is delayed"),
            "tmux set -s escape-time 10",
        )),
        Some(ms) => all.push(Terminal.ok("tmux escape-time", format!("{ms} ms"))),
        None => all.push(Terminal.note("tmux escape-time", "tmux did not say")),
    }
    match tmux.set_clipboard.as_deref() {
        Some("on") => all.push(Terminal.ok("tmux clipboard", "on")),
        Some(other) => all.push(Terminal.problem(
            "tmux clipboard",
            format!("set-clipboard is {other}: what is copied in the console does not reach the clipboard"),
            "tmux set -s set-clipboard on",
        )),
        None => all.push(Terminal.note("tmux clipboard", "tmux did not say")),
    }
    match tmux.default_terminal.as_deref() {
        Some(name) if name.contains("256color") || name.contains("direct") => {
            all.push(Terminal.ok("tmux terminal", name));
        }
        Some(name) => all.push(Terminal.problem(
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
    use std::borrow::Cow;

    use super::*;
    use crate::dispatch::doctor::finding::FindingState;
    use crate::terminal::host_terminal::HostTerminal;

    fn outer() -> HostTerminal {
        HostTerminal { background: Some((30, 30, 46)), ambiguous_columns: Some(1), ..HostTerminal::default() }
    }

    #[test]
    fn the_doctor_tells_the_background_and_the_mark_width_that_the_terminal_reported() {
        let found = |outer| {
            let probe = good().probe.map(|probe| Probe { host: outer, ..probe });
            let known = TerminalFacts { probe, ..good() };
            [background(&known), marks(&known)].map(|finding| finding.found)
        };
        assert_eq!(found(outer()), ["#1e1e2e, dark; 0 of 16 colours reported", "one column"]);
        let silent = found(HostTerminal::default());
        assert!(silent[0].contains("not reported") && silent[1].contains("no answer"), "{silent:?}");
        let wide = HostTerminal { ambiguous_columns: Some(2), ..outer() };
        assert!(found(wide)[1].contains("ASCII"));
    }

    fn good() -> TerminalFacts {
        TerminalFacts {
            probe: Some(Probe { size: (120, 40), kitty_keys: true, wide_columns: Some(2), host: outer() }),
            term: "xterm-256color".into(),
            colorterm: "truecolor".into(),
            locale: "C.UTF-8".into(),
            ..TerminalFacts::default()
        }
    }

    fn problems(known: &TerminalFacts) -> Vec<(&'static str, Option<String>)> {
        let bad = findings(known).into_iter().filter(|finding| finding.state == FindingState::Problem);
        let name = |check| if let Cow::Borrowed(check) = check { check } else { "" };
        bad.map(|finding| (name(finding.check), finding.fix)).collect()
    }

    #[test]
    fn a_good_terminal_has_no_problem() {
        assert_eq!(problems(&good()), []);
        let pipe = TerminalFacts { probe: None, ..good() };
        assert_eq!(problems(&pipe), []);
    }

    #[test]
    fn each_problem_has_its_fix() {
        let small = Probe { size: (59, 40), kitty_keys: false, wide_columns: Some(1), host: outer() };
        let tmux = Tmux {
            escape_time: Some(500),
            set_clipboard: Some("external".into()),
            default_terminal: Some("screen".into()),
        };
        let known = TerminalFacts {
            probe: Some(small),
            term: "dumb".into(),
            locale: "POSIX".into(),
            tmux: Some(tmux),
            ..TerminalFacts::default()
        };
        let found = problems(&known);
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
