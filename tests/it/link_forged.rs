//! Approvals that no person gave: scripts of the same user that speak the protocol of consoles.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pilothouse::link::{Hello, Operator, Role};
use serde_json::{Value, json};

use crate::support::{Home, wait_until};

/// Sooner than this after its card an answer does not count.
const READING: Duration = Duration::from_millis(400);

/// A script that speaks as a console does.
struct Script {
    reader: BufReader<UnixStream>,
    asks: u64,
    snapshot: Value,
    nonce: String,
}

impl Script {
    /// Connects and reads until the held call is there, with what an answer to it must carry.
    fn connect(home: &Home) -> Self {
        let mut stream = UnixStream::connect(home.places().operator_socket()).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
        let mut hello = serde_json::to_vec(&Hello::new(Role::Operator, home.workspace())).expect("a hello");
        hello.push(b'\n');
        stream.write_all(&hello).expect("said");
        let mut reader = BufReader::new(stream);
        let mut ack = String::new();
        reader.read_line(&mut ack).expect("an answer");
        assert!(ack.contains("\"ok\":true"), "{ack}");
        let mut script = Self { reader, asks: 0, snapshot: Value::Null, nonce: String::new() };
        while script.nonce.is_empty() || script.held().is_none() {
            script.read();
        }
        script
    }

    fn held(&self) -> Option<(u64, String)> {
        let held = self.snapshot.pointer("/gate/held/0")?;
        Some((held["ticket"].as_u64()?, held["hash"].as_str()?.to_owned()))
    }

    /// Takes one message in and returns it.
    fn read(&mut self) -> Value {
        let mut head = [0; 5];
        self.reader.read_exact(&mut head).expect("a frame");
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let mut payload = vec![0; length];
        self.reader.read_exact(&mut payload).expect("a payload");
        let message: Value = serde_json::from_slice(&payload).unwrap_or_default();
        if let Some(rest) = message.pointer("/update/rest") {
            self.snapshot = rest.clone();
        }
        for card in message["cards"].as_array().into_iter().flatten() {
            if card["id"].get("held").is_some() {
                card["nonce"].as_str().expect("a nonce").clone_into(&mut self.nonce);
            }
        }
        message
    }

    fn ask(&mut self, ask: &Value) -> Value {
        self.asks += 1;
        let ask = serde_json::to_vec(&json!({"ask": {"id": self.asks, "ask": ask}})).expect("JSON");
        let mut frame = u32::try_from(ask.len()).expect("short").to_be_bytes().to_vec();
        frame.push(0);
        frame.extend(ask);
        self.reader.get_mut().write_all(&frame).expect("asked");
        loop {
            let message = self.read();
            if message.pointer("/reply/id") == Some(&json!(self.asks)) {
                return message["reply"]["reply"].clone();
            }
        }
    }

    /// Says yes to the held call; returns why not, if it was not taken.
    fn approve(&mut self, nonce: Option<&str>) -> Option<String> {
        let (ticket, hash) = self.held().expect("a held call");
        let decide = json!({"ticket": ticket, "hash": hash, "decision": "once", "nonce": nonce});
        let reply = self.ask(&json!({"decide": decide}));
        reply["Err"].as_str().map(str::to_owned)
    }
}

#[expect(clippy::disallowed_methods, reason = "how long an attempt took is measured in real time")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn of_200_forged_approvals_none_counts() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\nactor = \"cli\"\n");
    let mut served = home.serve();
    let ran =
        home.command(&["command", "run", "--yield-time-ms", "250", "touch forged"]).output().expect("runs");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("awaiting_operator"), "{ran:?}");
    let forged = home.workspace().join("forged");

    let (mut one, other) = (Script::connect(&home), Script::connect(&home));
    assert_ne!(one.nonce, other.nonce);
    let connected = now();
    wait_until("the cards can have been read", || connected.elapsed() > READING);
    let mut refused = 0;
    for attempt in 0..75_u32 {
        let wrong = match attempt % 5 {
            0 => None,
            1 => Some(String::new()),
            2 => Some(format!("{attempt:032x}")),
            3 => Some(one.nonce[..31].to_owned()),
            _ => Some(one.nonce.to_uppercase() + "0"),
        };
        let why = one.approve(wrong.as_deref()).expect("a wrong nonce");
        assert!(why.contains("nothing was decided"), "{why}");
        refused += 1;
    }
    for _ in 0..75 {
        let why = one.approve(Some(&other.nonce)).expect("the nonce of another connection");
        assert!(why.contains("nothing was decided"), "{why}");
        refused += 1;
    }
    for _ in 0..50 {
        let began = now();
        let mut hasty = Script::connect(&home);
        let nonce = hasty.nonce.clone();
        match hasty.approve(Some(&nonce)) {
            Some(why) => assert!(why.contains("sooner than the question can have been read"), "{why}"),
            None => assert!(began.elapsed() >= READING, "approved after {:?}", began.elapsed()),
        }
        refused += 1;
    }
    assert_eq!(refused, 200);
    let pause = json!({"pause": {"paused": true}});
    assert!(one.ask(&pause)["Err"].is_null(), "a pause needs no card");
    assert!(!forged.exists(), "nothing ran");

    // What came with its card, read for long enough, is an answer; and it is on record and told who gave it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let socket = home.places().operator_socket();
    let witness = runtime.block_on(Operator::attach(&socket, home.workspace())).expect("attaches");
    let nonce = one.nonce.clone();
    assert_eq!(one.approve(Some(&nonce)), None);
    wait_until("it runs", || forged.exists());
    let told = runtime.block_on(async {
        let mut snapshot = witness.snapshot();
        let has = |text: &str| text.contains("was approved in another console: pid ");
        let told = snapshot
            .wait_for(|snapshot| snapshot.notices.iter().any(|notice| has(&notice.text)))
            .await
            .expect("told");
        told.notices.iter().map(|notice| (notice.text.clone(), notice.from)).collect::<Vec<_>>()
    });
    let own = Some(std::process::id());
    assert!(told.iter().any(|(text, from)| text.contains("another console has connected") && *from == own));
    let files = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let files = files.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a recording").flatten());
    let rows: String = files
        .filter(|file| file.file_name().to_string_lossy().starts_with("journal-"))
        .map(|file| std::fs::read_to_string(file.path()).expect("rows"))
        .collect();
    let approved: Vec<&str> = rows
        .lines()
        .filter(|row| row.contains("\"kind\":\"gate\"") && row.contains("\"approved\""))
        .collect();
    let [row] = &approved[..] else { panic!("one approval: {approved:?}\n{rows}") };
    let console = &serde_json::from_str::<Value>(row).expect("a row")["data"]["console"];
    assert_eq!(console["pid"], json!(std::process::id()), "{row}");
    assert!(console["started"].is_string() && console.get("terminal").is_some(), "{row}");
    drop((one, other, witness));
    assert!(home.run(&["serve", "--stop"]).status.success());
    served.wait().expect("ends");
}
