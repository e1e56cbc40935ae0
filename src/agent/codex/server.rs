//! Codex's own server, and the requests we send it in addition to Codex's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::forwarder::SideWriter;
use super::message::{self, OWN_ID, ProcessMessage, about, answer, decode, params};
use super::sandbox::MirrorEvent;
use super::start::{StartParams, own_id};

/// How long the server may take to print an environment.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum length of that environment, in bytes.
const MOST: usize = 4 << 20;
/// Messages about a process of ours that may be queued.
const MESSAGES: usize = 1_024;
/// The number of policies whose environments are cached.
const POLICIES: usize = 64;

/// The server. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct CodexServer {
    pub(super) side: SideWriter,
    numbers: Arc<AtomicU64>,
    probes: Arc<Mutex<HashMap<String, mpsc::Sender<ProbeEvent>>>>,
    environments: Arc<tokio::sync::Mutex<HashMap<String, Vec<u8>>>>,
    watched: Arc<Mutex<HashMap<String, MirroredProcess>>>,
}

/// A process of the server that is mirrored.
#[derive(Debug)]
struct MirroredProcess {
    /// The request that starts it.
    request: Value,
    sees: mpsc::Sender<MirrorEvent>,
}

/// What the server reports about a process of ours.
#[derive(Debug)]
enum ProbeEvent {
    Answer { is_error: bool },
    Output(Vec<u8>),
    Exited(i64),
    Closed,
}

impl CodexServer {
    pub(super) fn new(side: SideWriter) -> Self {
        let (numbers, probes, environments, watched) = Default::default();
        Self { side, numbers, probes, environments, watched }
    }

    /// Returns the part of the server's environment that a start's policy leaves, each variable terminated by NUL;
    /// `None` if the server does not report it. Only the server knows how its version interprets a policy.
    pub(super) async fn environment(&self, start: &StartParams, asked: &Value) -> Option<Vec<u8>> {
        let Some(policy) = &start.env_policy else { return Some(Vec::new()) };
        let policy = policy.to_string();
        let mut known = self.environments.lock().await;
        if let Some(left) = known.get(&policy) {
            return Some(left.clone());
        }
        let id = own_id(self.number());
        let (heard, mut hears) = mpsc::channel(MESSAGES);
        self.lock().insert(id.clone(), heard);
        let printed = tokio::time::timeout(PATIENCE, async {
            self.side.line(&start.probe(asked, &id)).await.ok()?;
            collect_output(&mut hears).await
        });
        let printed = printed.await.ok().flatten();
        self.lock().remove(&id);
        let printed = printed?;
        if known.len() < POLICIES {
            known.insert(policy, printed.clone());
        }
        Some(printed)
    }

    /// Handles a line from the server if it answers us or is about a process of ours; returns whether it did.
    pub(super) fn takes(&self, line: &[u8]) -> bool {
        if let Some((id, answer)) = answer(line) {
            let is_ours =
                self.hear(&id, || Some(ProbeEvent::Answer { is_error: answer.get("error").is_some() }));
            // Nobody waits for the outcome of an order.
            return is_ours
                || id
                    .strip_prefix(OWN_ID)
                    .and_then(|number| number.parse().ok())
                    .is_some_and(|number: u64| number < self.numbers.load(Ordering::Relaxed));
        }
        let Some(about) = about(line) else {
            self.see_failure(line);
            return false;
        };
        self.see(&about, line);
        self.hear(&about.process, || match about.method.as_str() {
            "process/output" => {
                #[derive(Deserialize)]
                struct OutputParams {
                    chunk: String,
                }
                Some(ProbeEvent::Output(decode(&params::<OutputParams>(line).ok()?.chunk).ok()?))
            }
            "process/exited" => {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct ExitParams {
                    exit_code: i64,
                }
                Some(ProbeEvent::Exited(params::<ExitParams>(line).ok()?.exit_code))
            }
            "process/closed" => Some(ProbeEvent::Closed),
            _ => None,
        })
    }

    /// Starts mirroring a process; `request` is the id of the request that starts it.
    pub(super) fn watch(&self, name: &str, request: &Value, messages: usize) -> mpsc::Receiver<MirrorEvent> {
        let (sees, seen) = mpsc::channel(messages);
        self.lock_watched().insert(name.to_owned(), MirroredProcess { request: request.clone(), sees });
        seen
    }

    /// Stops mirroring a process.
    pub(super) fn unwatch(&self, name: &str) {
        self.lock_watched().remove(name);
    }

    /// Stops mirroring all processes: the server has ended.
    pub(super) fn unwatch_all(&self) {
        self.lock_watched().clear();
    }

    fn see(&self, about: &ProcessMessage, line: &[u8]) {
        let mut watched = self.lock_watched();
        let Some(known) = watched.get(&about.process) else { return };
        let is_taken = MirrorEvent::of(about, line).is_none_or(|seen| known.sees.try_send(seen).is_ok());
        if !is_taken {
            // Its mirror has stopped; Codex must not wait for that.
            watched.remove(&about.process);
        }
    }

    fn see_failure(&self, line: &[u8]) {
        #[derive(Deserialize)]
        struct FailedRequest {
            id: Value,
            #[serde(rename = "error")]
            _error: serde::de::IgnoredAny,
        }
        let watched = self.lock_watched();
        if watched.is_empty() {
            return;
        }
        let Ok(FailedRequest { id, .. }) = serde_json::from_slice(line) else { return };
        if let Some(known) = watched.values().find(|known| known.request == id) {
            let _ = known.sees.try_send(MirrorEvent::Failed);
        }
    }

    /// Returns a number not used by any other request of ours.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request without waiting for its outcome.
    pub(super) async fn order(&self, method: &str, params: &Value) {
        let request = json!({ "id": own_id(self.number()), "method": method, "params": params });
        // If the server is gone, Codex notices that by itself.
        let _ = self.side.line(&message::line(&request)).await;
    }

    fn lock_watched(&self) -> MutexGuard<'_, HashMap<String, MirroredProcess>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, name: &str, heard: impl FnOnce() -> Option<ProbeEvent>) -> bool {
        let Some(probe) = self.lock().get(name).cloned() else { return false };
        if let Some(heard) = heard() {
            // A probe whose queue is full or closed has given up.
            let _ = probe.try_send(heard);
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, mpsc::Sender<ProbeEvent>>> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the output of a process that has ended successfully.
async fn collect_output(heard: &mut mpsc::Receiver<ProbeEvent>) -> Option<Vec<u8>> {
    let (mut all, mut code) = (Vec::new(), None);
    loop {
        match heard.recv().await? {
            ProbeEvent::Answer { is_error: true } => return None,
            ProbeEvent::Answer { is_error: false } => {}
            ProbeEvent::Output(bytes) if all.len() + bytes.len() <= MOST => all.extend(bytes),
            ProbeEvent::Output(_) => return None,
            ProbeEvent::Exited(exit) => code = Some(exit),
            ProbeEvent::Closed => return (code == Some(0)).then_some(all),
        }
    }
}
