//! What bash does is the judge: of lines out of a grammar, none loses a file of which nothing was said. Each runs in a folder
//! that is thrown away, with a path of few programs; the grammar names nothing outside of it.

mod answers;
#[path = "../../src/tests/disk_look.rs"]
mod disk_look;
mod folder;
mod generator;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use folder::Folder;
use generator::Grammar;
use pilothouse_consequence::STACK;

/// The lines of each kind that were once silent, with the others: bash must lose something, and it must be said or not known.
const KINDS: &str = include_str!("kinds.txt");

/// What became of the lines.
#[derive(Default)]
struct Tally {
    silent: Vec<String>,
    /// The lines that lose nothing.
    kept: Vec<String>,
    lossy: usize,
    said: usize,
    nothing: usize,
}

/// Runs lines on two threads, each in a folder of its own; `None` if bash is missing.
fn run(lines: &[String]) -> Option<Vec<Tally>> {
    Folder::new()?;
    let next = AtomicU64::new(0);
    let work = || {
        let folder = Folder::new().expect("a folder");
        let mut tally = Tally::default();
        while let Some(line) = lines.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).expect("few"))
        {
            let outcome = folder.run(line);
            assert!(folder.is_closed(), "{line}");
            match outcome.lost.is_empty() {
                true => tally.kept.push(line.clone()),
                false => tally.lossy += 1,
            }
            tally.said += usize::from(outcome.said.unknown.is_empty());
            tally.nothing += usize::from(outcome.said == Default::default());
            if let Some(lost) = outcome.silent() {
                let name = lost.file_name().unwrap_or_default().display();
                tally.silent.push(format!("{name} is lost by {line:?}: {:?}", outcome.said.sentences()));
            }
        }
        tally
    };
    Some(std::thread::scope(|scope| {
        let start =
            || std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("a thread");
        let threads = [start(), start()];
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    }))
}

#[test]
fn no_line_of_the_grammar_loses_a_file_of_which_nothing_was_said() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
    };
    let (count, seed) = (number("PILOTHOUSE_LINES", 300), number("PILOTHOUSE_SEED", 1));
    let grammar = Grammar::new(include_str!("grammar.txt"));
    let lines: Vec<String> = (0..count).map(|at| grammar.line(seed * 1_000_000 + at)).collect();
    let Some(tallies) = run(&lines) else { return skip() };
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    let mut silent: Vec<&String> = tallies.iter().flat_map(|tally| &tally.silent).collect();
    silent.sort_by_key(|line| line.len());
    let mut text = String::new();
    silent.iter().take(20).for_each(|line| writeln!(text, "{line}").expect("written"));
    let (lossy, said, nothing) = (sum(|one| one.lossy), sum(|one| one.said), sum(|one| one.nothing));
    eprintln!(
        "{count} lines: {lossy} lose a file, {said} are known, {nothing} cost nothing, {} silent",
        silent.len()
    );
    assert!(silent.is_empty(), "{} silent losses:\n{text}", silent.len());
    // A test in which nothing is lost, or nothing known, would pass as well.
    assert!(lossy * 3 > lines.len() && said * 10 > lines.len() && nothing > 0);
}

#[test]
fn each_kind_of_loss_is_reported_or_said_to_be_unknown() {
    let kinds = match std::env::var("PILOTHOUSE_KINDS") {
        Ok(file) => std::fs::read_to_string(file).expect("a file of lines"),
        Err(_) => KINDS.to_owned(),
    };
    let plain =
        |line: &str| line.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace('\0', "\\");
    let lines: Vec<String> = kinds.lines().filter(|line| !line.starts_with('#')).map(plain).collect();
    let Some(tallies) = run(&lines) else { return skip() };
    let silent: Vec<&String> = tallies.iter().flat_map(|tally| &tally.silent).collect();
    assert!(silent.is_empty(), "{silent:#?}");
    let kept: Vec<&String> = tallies.iter().flat_map(|tally| &tally.kept).collect();
    assert!(kept.is_empty(), "bash loses nothing here: {kept:#?}");
}

fn skip() {
    eprintln!("skipped: bash and timeout are not installed");
}
