//! The scripted model's server: HTTP on loopback, one request per connection, for one agent at a time.

use std::io;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::api::{self, ModelAnswer, ModelScript};

/// The maximum lengths of a request's head and body, in bytes.
const MAX_HEAD: u64 = 64 << 10;
const MAX_BODY: u64 = 32 << 20;

/// How far an agent has come with its prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum TrialProgress {
    /// It has not asked its model.
    #[default]
    Starting,
    /// It has been told to run the command.
    Told,
    /// It has sent the command's result to its model.
    Answered(String),
}

/// A model server that is listening. It stops when dropped.
pub(super) struct ScriptedServer {
    /// Its port on loopback.
    pub(super) port: u16,
    /// How far the agent has come.
    pub(super) progress: watch::Receiver<TrialProgress>,
    serving: JoinHandle<()>,
}

impl ScriptedServer {
    /// Starts listening on a loopback port.
    pub(super) async fn open(script: ModelScript) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let (sender, progress) = watch::channel(TrialProgress::default());
        let (script, sender) = (Arc::new(script), Arc::new(sender));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, sender) = (script.clone(), sender.clone());
                // A request that cannot be read is its sender's concern: the agent reports how it failed.
                tokio::spawn(async move { serve(stream, &script, &sender).await.ok() });
            }
        });
        Ok(Self { port, progress, serving })
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    script: &ModelScript,
    progress: &watch::Sender<TrialProgress>,
) -> io::Result<()> {
    let (path, body) = read(&mut stream).await?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let ModelAnswer { content_type, body, is_to_prompt, result } = api::answer(&path, &body, script);
    progress.send_if_modified(|now| {
        let next = match (result, &*now) {
            (Some(result), TrialProgress::Starting | TrialProgress::Told) => TrialProgress::Answered(result),
            (None, TrialProgress::Starting) if is_to_prompt => TrialProgress::Told,
            _ => return false,
        };
        *now = next;
        true
    });
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.shutdown().await
}

/// Reads a request, returning its path and body.
async fn read(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "a request that is too long");
    let mut reader = BufReader::new(stream).take(MAX_HEAD);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line).await? == 0 {
            return Err(too_long());
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length =
                    value.trim().parse().ok().filter(|length| *length <= MAX_BODY).ok_or_else(too_long)?;
            }
            Some(_) => {}
            None => break,
        }
    }
    reader.set_limit(length);
    let mut body = Vec::new();
    reader.read_to_end(&mut body).await?;
    Ok((path, body))
}
