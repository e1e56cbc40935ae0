//! Random programs for the simulated effects: everything whose end is recorded, nested at random. Each command and
//! each question contains a word that is unique to its pass, branch and call.

mod writer;

use proptest::prelude::*;

use self::writer::Writer;

/// A simulated command.
#[derive(Debug, Clone)]
pub(super) struct Cmd {
    exit: u8,
    on_fail: Option<&'static str>,
    lines: u8,
    seconds: u8,
    moves: bool,
    inserts: usize,
}

/// What `let`, `const` and `output` can be bound to.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Cmd(Cmd),
    /// A text that contains a value.
    Text(usize),
    /// The elements of a list, each passed to a command.
    Pipe(&'static str, u8, Cmd),
    Call(usize),
    Branches(Fork),
}

/// A parallel block.
#[derive(Debug, Clone)]
pub(super) struct Fork {
    join: &'static str,
    on_fail: &'static str,
    branches: Vec<Branch>,
}

#[derive(Debug, Clone)]
pub(super) enum Branch {
    Named(Cmd),
    Body(Vec<Piece>),
}

/// A statement.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Cmd(Cmd),
    Let(Source),
    Const(Source),
    Output(Source),
    Assign(usize, Source),
    Throw,
    Gate(&'static str),
    Session,
    Call(usize),
    Repeat(u8, Vec<Piece>),
    /// Over a list of this many elements, or over the lines of a value.
    For(u8, Option<usize>, bool, Vec<Piece>),
    Loop(Vec<Piece>),
    Fork(Fork),
    If(Vec<Piece>, Vec<Piece>),
    Choice(Vec<Piece>, Vec<Piece>),
    Try(Vec<Piece>, Vec<Piece>, Option<Vec<Piece>>),
}

/// A program: blocks, and the body that calls them.
#[derive(Debug, Clone)]
pub(super) struct Generated {
    blocks: Vec<Vec<Piece>>,
    body: Vec<Piece>,
}

fn cmd() -> impl Strategy<Value = Cmd> {
    let exit = prop_oneof![5 => Just(0_u8), 1 => Just(3)];
    let on_fail = prop_oneof![2 => Just(None), 1 => Just(Some("continue")), 1 => Just(Some("ignore"))];
    (exit, on_fail, 0..3_u8, 0..4_u8, prop::bool::weighted(0.2), any::<usize>()).prop_map(
        |(exit, on_fail, lines, seconds, moves, inserts)| Cmd {
            exit,
            on_fail,
            lines,
            seconds,
            moves,
            inserts,
        },
    )
}

fn source() -> impl Strategy<Value = Source> {
    let stage = prop::sample::select(vec!["map", "pmap", "filter", "reduce(acc, it)"]);
    prop_oneof![
        4 => cmd().prop_map(Source::Cmd),
        2 => any::<usize>().prop_map(Source::Text),
        1 => (stage, 1..4_u8, cmd()).prop_map(|(stage, count, cmd)| Source::Pipe(stage, count, cmd)),
        1 => any::<usize>().prop_map(Source::Call),
    ]
}

fn fork(body: BoxedStrategy<Vec<Piece>>) -> impl Strategy<Value = Fork> {
    let branch = prop_oneof![cmd().prop_map(Branch::Named), body.prop_map(Branch::Body)];
    let join = prop_oneof![4 => Just("all"), 1 => Just("first"), 1 => Just("any")];
    let on_fail = prop::sample::select(vec!["fail-fast", "continue", "ignore"]);
    (join, on_fail, prop::collection::vec(branch, 1..4)).prop_map(|(join, on_fail, branches)| Fork {
        join,
        on_fail,
        branches,
    })
}

fn leaf() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => cmd().prop_map(Piece::Cmd),
        4 => source().prop_map(Piece::Let),
        1 => source().prop_map(Piece::Const),
        1 => source().prop_map(Piece::Output),
        3 => (any::<usize>(), source()).prop_map(|(of, source)| Piece::Assign(of, source)),
        1 => Just(Piece::Throw),
        1 => prop::sample::select(vec!["throw", "continue", "session \"g\""]).prop_map(Piece::Gate),
        1 => Just(Piece::Session),
        2 => any::<usize>().prop_map(Piece::Call),
    ]
}

fn pieces(depth: u32) -> BoxedStrategy<Vec<Piece>> {
    let one = leaf().prop_recursive(depth, 24, 3, |inner| {
        let body = || prop::collection::vec(inner.clone(), 1..4).boxed();
        prop_oneof![
            (1..4_u8, body()).prop_map(|(count, body)| Piece::Repeat(count, body)),
            (1..4_u8, prop::option::of(any::<usize>()), any::<bool>(), body())
                .prop_map(|(count, over, at_once, body)| Piece::For(count, over, at_once, body)),
            body().prop_map(Piece::Loop),
            fork(body()).prop_map(Piece::Fork),
            fork(body()).prop_map(|fork| Piece::Let(Source::Branches(fork))),
            (body(), body()).prop_map(|(yes, no)| Piece::If(yes, no)),
            (body(), body()).prop_map(|(one, two)| Piece::Choice(one, two)),
            (body(), body(), prop::option::of(body()))
                .prop_map(|(body, catch, finally)| Piece::Try(body, catch, finally)),
        ]
    });
    prop::collection::vec(one, 1..6).boxed()
}

pub(super) fn programs() -> impl Strategy<Value = Generated> {
    (prop::collection::vec(pieces(1), 0..3), pieces(3)).prop_map(|(blocks, body)| Generated { blocks, body })
}

/// A program as source text.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    /// Some steps are concurrent.
    pub(super) forks: bool,
    /// What is done depends on which of two steps comes first.
    pub(super) races: bool,
}

impl Generated {
    pub(super) fn written(&self) -> Written {
        let mut writer = Writer::default();
        // A block calls only earlier blocks, so that calls terminate.
        for (at, body) in self.blocks.iter().enumerate() {
            writer.line(&format!("block f{at}(p{at}):"));
            let outer = std::mem::replace(&mut writer.turns, vec![format!("p{at}")]);
            writer.body(body);
            writer.turns = outer;
            writer.blocks = at + 1;
        }
        writer.all(&self.body);
        Written { text: writer.text, forks: writer.forks, races: writer.races }
    }
}

fn fails(cmd: &Cmd) -> bool {
    cmd.exit != 0 && cmd.on_fail.is_none()
}

fn may_fail(branch: &Branch) -> bool {
    match branch {
        Branch::Named(cmd) => fails(cmd),
        Branch::Body(pieces) => pieces.iter().any(piece_may_fail),
    }
}

fn source_may_fail(source: &Source) -> bool {
    match source {
        Source::Cmd(cmd) | Source::Pipe(_, _, cmd) => fails(cmd),
        Source::Text(_) => false,
        Source::Call(_) | Source::Branches(_) => true,
    }
}

fn piece_may_fail(piece: &Piece) -> bool {
    let any = |pieces: &[Piece]| pieces.iter().any(piece_may_fail);
    match piece {
        Piece::Cmd(cmd) => fails(cmd),
        Piece::Let(of) | Piece::Const(of) | Piece::Output(of) | Piece::Assign(_, of) => source_may_fail(of),
        Piece::Session => false,
        Piece::Throw | Piece::Gate(_) | Piece::Call(_) | Piece::Fork(_) => true,
        Piece::Repeat(_, body) | Piece::Loop(body) | Piece::For(_, _, _, body) => any(body),
        Piece::If(one, two) | Piece::Choice(one, two) => any(one) || any(two),
        Piece::Try(_, catch, finally) => any(catch) || finally.as_deref().is_some_and(any),
    }
}
