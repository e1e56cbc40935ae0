//! Turns a recording into an animated picture: an SVG that plays in a browser, without a script in it.
//!
//! `animate RECORDING.cast PICTURE.svg SECONDS 'TEXT=HOLD'...` pauses for HOLD seconds when TEXT appears on the screen, and
//! plays everything between so fast that it takes SECONDS in total. Readers who prefer reduced motion see the first pause.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, fs};

use color_eyre::eyre::{OptionExt as _, Result, bail};
use pilothouse::terminal::{ByteOrigin, CellDrawing, Palette, Size, Terminal};

/// Changes closer together than this are merged, in seconds of the recording.
const TOGETHER: f64 = 0.12;
/// How long after its text has appeared a pause begins, so that the screen is complete.
const COMPLETE: f64 = 0.45;

/// A screen, and how long it is shown.
struct Frame {
    at: f64,
    /// The drawing of each row.
    rows: Vec<String>,
    text: String,
    shown: f64,
}

/// A text to pause at, and for how long.
struct Moment {
    text: String,
    seconds: f64,
}

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [cast, picture, seconds, moments @ ..] = &args[..] else {
        bail!("usage: animate RECORDING.cast PICTURE.svg SECONDS 'TEXT=HOLD'...");
    };
    let moments = moments.iter().map(|moment| moment_of(moment)).collect::<Result<Vec<_>>>()?;
    let (head, mut frames) = frames(&fs::read_to_string(cast)?)?;
    let still = time(&mut frames, &moments, seconds.parse()?)?;
    fs::write(picture, animated(&head, &frames, still))?;
    Ok(())
}

fn moment_of(written: &str) -> Result<Moment> {
    let (text, seconds) = written.rsplit_once('=').ok_or_eyre("a moment is TEXT=SECONDS")?;
    Ok(Moment { text: text.to_owned(), seconds: seconds.parse()? })
}

/// Plays the recording; returns the part that all pictures of it begin with, and the screens.
fn frames(cast: &str) -> Result<(String, Vec<Frame>)> {
    let mut lines = cast.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().ok_or_eyre("an empty recording")?)?;
    let side = |name: &str| header[name].as_u64().and_then(|side| u16::try_from(side).ok()).unwrap_or(80);
    let mut terminal = Terminal::new(Size::nearest(side("width"), side("height")), ByteOrigin::Tty);
    let (mut head, mut frames): (String, Vec<Frame>) = Default::default();
    let mut take = |at: f64, terminal: &Terminal| {
        let drawing = CellDrawing::of(terminal);
        let svg = drawing.svg("Pilothouse at work", &Palette::DARK);
        let (before, rows) = rows_of(&svg, drawing.rows.len());
        head = before;
        if frames.last().is_none_or(|last| last.rows != rows) {
            frames.push(Frame { at, rows, text: drawing.text(), shown: 0.0 });
        }
    };
    let mut pending: Option<f64> = None;
    for line in lines {
        let (at, kind, data): (f64, String, String) = serde_json::from_str(line)?;
        if kind != "o" {
            continue;
        }
        if let Some(since) = pending.filter(|since| at - since > TOGETHER) {
            take(since, &terminal);
            pending = None;
        }
        // The program leaves the alternate screen when it exits: that is not part of the animation.
        if data.contains("\x1b[?1049l") {
            break;
        }
        let _ = terminal.feed(data.as_bytes());
        pending = pending.or(Some(at));
    }
    if let Some(since) = pending {
        take(since, &terminal);
    }
    Ok((head, frames))
}

/// Splits a picture into its beginning and the drawing of each row.
fn rows_of(svg: &str, count: usize) -> (String, Vec<String>) {
    const ROW: f64 = 18.0;
    const BORDER: f64 = 12.0;
    let (mut head, mut rows) = (String::new(), vec![String::new(); count]);
    for line in svg.lines().filter(|line| *line != "</svg>") {
        let y = line.split(" y=\"").nth(1).and_then(|rest| rest.split('"').next());
        let row = y.and_then(|y| y.parse::<f64>().ok()).map(|y| ((y - BORDER) / ROW).floor());
        match row.and_then(|row| rows.get_mut(row as usize)) {
            // Set once for all rows, on the picture and by a style rule.
            Some(row) => row.push_str(&line.replace(" xml:space=\"preserve\"", "")),
            None => {
                head.push_str(line);
                head.push('\n');
            }
        }
    }
    (head, rows)
}

/// Sets how long each frame is shown; returns the index of the first pause.
fn time(frames: &mut [Frame], moments: &[Moment], seconds: f64) -> Result<usize> {
    let mut held = BTreeMap::new();
    let mut from = 0;
    for moment in moments {
        let has_text = |frame: &Frame| frame.text.contains(&moment.text);
        let first = frames.iter().skip(from).position(has_text).map(|at| at + from);
        let first = first.ok_or_else(|| color_eyre::eyre::eyre!("not in the recording: {}", moment.text))?;
        let until = frames[first].at + COMPLETE;
        let complete = frames.iter().skip(first).take_while(|frame| frame.at <= until && has_text(frame));
        let at = first + complete.count().saturating_sub(1);
        held.insert(at, moment.seconds);
        from = at;
    }
    let between = seconds - held.values().sum::<f64>();
    let all = frames.last().map_or(0.0, |last| last.at) - frames.first().map_or(0.0, |first| first.at);
    let next: Vec<f64> = frames.iter().skip(1).map(|frame| frame.at).collect();
    for (at, frame) in frames.iter_mut().enumerate() {
        let until = next.get(at).copied().unwrap_or(frame.at);
        frame.shown = (until - frame.at) / all * between + held.get(&at).copied().unwrap_or(0.0);
    }
    Ok(held.keys().next().copied().unwrap_or(0))
}

/// Each drawing of a row appears once in the file, and is shown while the row has it.
fn animated(head: &str, frames: &[Frame], still: usize) -> String {
    let length: f64 = frames.iter().map(|frame| frame.shown).sum();
    let mut spans: BTreeMap<(usize, &str), Vec<(f64, f64)>> = BTreeMap::new();
    let mut now = 0.0;
    for frame in frames.iter().filter(|frame| frame.shown > 0.0) {
        for (row, drawn) in frame.rows.iter().enumerate().filter(|(_, drawn)| !drawn.is_empty()) {
            let spans = spans.entry((row, drawn)).or_default();
            match spans.last_mut() {
                Some((_, until)) if (*until - now).abs() < 1e-9 => *until = now + frame.shown,
                _ => spans.push((now, now + frame.shown)),
            }
        }
        now += frame.shown;
    }
    let (mut style, mut body) = (String::new(), String::new());
    for (number, ((row, drawn), spans)) in spans.iter().enumerate() {
        let is_still =
            frames.get(still).is_some_and(|frame| frame.rows.get(*row).is_some_and(|at| at == drawn));
        let class = if is_still { "r s" } else { "r" };
        let is_always = matches!(spans[..], [(from, until)] if from <= 0.0 && until >= length - 1e-6);
        if is_always {
            let _ = writeln!(body, "<g>{drawn}</g>");
            continue;
        }
        let _ = writeln!(body, "<g class=\"{class}\" style=\"animation-name:k{number}\">{drawn}</g>");
        let percent = |at: f64| at / length * 100.0;
        let _ = write!(style, "@keyframes k{number}{{");
        if spans.first().is_some_and(|(from, _)| *from > 0.0) {
            style.push_str("0%{visibility:hidden}");
        }
        for (from, until) in spans {
            let _ = write!(style, "{:.2}%{{visibility:visible}}", percent(*from));
            let _ = write!(style, "{:.2}%{{visibility:hidden}}", percent(*until).min(100.0));
        }
        style.push_str("}\n");
    }
    let rules = format!(
        "text{{white-space:pre}}\n.r{{visibility:hidden;animation-duration:{length:.2}s;animation-timing-function:step-end;\
         animation-iteration-count:infinite}}\n\
         @media (prefers-reduced-motion:reduce){{.r{{animation:none}}.s{{visibility:visible}}}}\n"
    );
    let head = head.replacen("<svg ", "<svg xml:space=\"preserve\" ", 1);
    format!("{head}<style>\n{rules}{style}</style>\n{body}</svg>\n")
}
