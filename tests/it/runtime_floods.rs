//! Floods on many terminals at once, which are read at a pace.

use pilothouse::model::{ExecRequest, TypedInput};
use pilothouse::runtime::OutputStream;

use crate::runtime::{Bench, agent};

const FLOODS: usize = 12;
const LINES: usize = 20_000;

#[tokio::test]
async fn many_floods_that_end_at_once_keep_every_line() {
    let bench = Bench::start();
    let mut floods = Vec::new();
    for _ in 0..FLOODS {
        let cmd = format!("seq {LINES}");
        floods.push(bench.promoted(ExecRequest { tty: true, ..bench.request(&cmd) }).await);
    }
    let whole: String = (1..=LINES).map(|number| format!("{number}\r\n")).collect();
    for id in floods {
        let task = bench.end(&id).await;
        let log = std::fs::read(pilothouse::runtime::log_path(&task.folder)).expect("log");
        assert!(log == whole.as_bytes(), "{} bytes of {} kept", log.len(), whole.len());
        assert_eq!(task.output.bytes, log.len() as u64);
    }
    bench.runtime.shutdown().await;
}

#[tokio::test]
async fn a_program_answers_beside_endless_floods_and_one_of_them_can_be_interrupted() {
    let bench = Bench::start();
    let tty = |cmd: &str| ExecRequest { tty: true, accepts_input: true, ..bench.request(cmd) };
    let mut floods = Vec::new();
    for _ in 0..FLOODS {
        floods.push(bench.promoted(tty("yes")).await);
    }
    let echo = bench.promoted(tty("read line; echo \"got $line\"; read end")).await;
    bench.runtime.input(&agent(), &echo, TypedInput::Text("it\r".into())).await.expect("input");
    bench.shows(&echo, "got it").await;
    bench.runtime.input(&agent(), &floods[0], TypedInput::Text("\u{3}".into())).await.expect("interrupted");
    bench.end(&floods[0]).await;
    assert!(bench.text(&floods[1], OutputStream::Merged).await.starts_with("y\ny\n"));
    bench.runtime.shutdown().await;
}
