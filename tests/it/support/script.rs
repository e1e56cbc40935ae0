//! A script that speaks the console protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use pilothouse::link::{ClientRole, Hello};
use serde_json::{Value, json};

use super::Home;

/// A script connected as if it were a console.
pub(crate) struct Script {
    reader: BufReader<UnixStream>,
    asks: u64,
    /// The ticket and hash of the held call.
    pub(crate) held: Option<(u64, String)>,
    /// The revision of what it would cost, 0 until that is known.
    cost: u64,
    /// The nonce that an answer to the held call must carry.
    pub(crate) nonce: String,
}

impl Script {
    /// Connects, and reads until the held call and its nonce have arrived.
    #[track_caller]
    pub(crate) fn connect(home: &Home) -> Self {
        Self::dial(&home.places().operator_socket(), &home.workspace()).expect("a console's connection")
    }

    /// Connects to a runtime of any home. Returns its message if it refused.
    pub(crate) fn dial(socket: &Path, workspace: &Path) -> Result<Self, String> {
        let mut stream = UnixStream::connect(socket).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(super::PATIENCE)).expect("set");
        let mut hello =
            serde_json::to_vec(&Hello::new(ClientRole::Operator, workspace.to_owned())).expect("a hello");
        hello.push(b'\n');
        let mut ack = String::new();
        let sent = stream.write_all(&hello);
        let mut reader = BufReader::new(stream);
        sent.and_then(|()| reader.read_line(&mut ack)).map_err(|error| error.to_string())?;
        if !ack.contains("\"ok\":true") {
            return Err(ack);
        }
        let mut script = Self { reader, asks: 0, held: None, cost: 0, nonce: String::new() };
        while script.nonce.is_empty() || script.cost == 0 {
            script.read();
        }
        Ok(script)
    }

    /// Reads one message and returns it.
    fn read(&mut self) -> Value {
        let mut head = [0; 4];
        self.reader.read_exact(&mut head).expect("a frame");
        let length = u32::from_be_bytes(head) as usize;
        let mut payload = vec![0; length];
        self.reader.read_exact(&mut payload).expect("a payload");
        let message: Value = serde_json::from_slice(&payload).unwrap_or_default();
        let items = message["items"].as_array().into_iter().flatten();
        for held in items.filter_map(|item| item.get("held")) {
            self.cost = held["cost"]["revision"].as_u64().expect("a revision");
            // Its card follows.
            self.nonce.clear();
            self.held = held["ticket"].as_u64().zip(held["hash"].as_str().map(str::to_owned));
        }
        for card in message["cards"].as_array().into_iter().flatten() {
            if card["id"].get("held").is_some() {
                card["nonce"].as_str().expect("a nonce").clone_into(&mut self.nonce);
            }
        }
        message
    }

    /// Sends a request about a subject and returns the answer.
    pub(crate) fn ask(&mut self, subject: &Value, act: &Value, nonce: Option<&str>) -> Value {
        self.asks += 1;
        let ask = json!({"id": self.asks, "nonce": nonce, "ask": {"subject": subject, "act": act}});
        let ask = serde_json::to_vec(&json!({ "ask": ask })).expect("JSON");
        let mut frame = u32::try_from(ask.len()).expect("short").to_be_bytes().to_vec();
        frame.extend(ask);
        self.reader.get_mut().write_all(&frame).expect("asked");
        loop {
            let message = self.read();
            if message.pointer("/reply/id") == Some(&json!(self.asks)) {
                return message["reply"]["reply"].clone();
            }
        }
    }

    /// Approves the held call; returns the reason if the answer was refused.
    pub(crate) fn approve(&mut self, nonce: Option<&str>) -> Option<String> {
        let (ticket, _) = self.held.clone().expect("a held call");
        self.approve_as(&json!({ "held": ticket }), nonce)
    }

    /// Does the same in a request about another subject than the held call.
    pub(crate) fn approve_as(&mut self, subject: &Value, nonce: Option<&str>) -> Option<String> {
        let (_, hash) = self.held.clone().expect("a held call");
        let decide = json!({"decide": {"hash": hash, "cost": self.cost, "decision": "once"}});
        self.ask(subject, &decide, nonce)["Err"].as_str().map(str::to_owned)
    }
}
