//! Fetches a program that another one uses: runs the system's `curl` as a task, over https only.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::aside::aside;
use super::registry::Registry;
use super::request::RunRequest;
use crate::consequence::rule_words::quote;
use crate::envelope::{Actor, Envelope, TaskId};
use crate::journal::{Durability, Os};
use crate::model::{ExecOutcome, ExecRequest, Leftovers, PROGRAM_CALL, ProgramStep};
use crate::prose::engine::record::error::RunError;
use crate::prose::engine::record::folder::SharedDisk;
use crate::prose::engine::vm::module::Library;
use crate::prose::syntax::SourceText;
use crate::runtime::{Handle, OutputStream};

const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of programs that one run fetches.
const MOST_FETCHED: usize = 64;

/// Loads a program with all programs it uses; missing ones are fetched, if that is allowed.
pub(super) async fn with_used(
    runtime: &Handle,
    by: &Actor,
    request: &RunRequest,
    load: impl Fn(&Registry) -> Result<Library, RunError> + Send + Sync + 'static,
) -> Result<Library, RunError> {
    let disk: SharedDisk = Arc::new(Os);
    let (workspace, path, load) = (runtime.workspace().to_owned(), request.path.clone(), Arc::new(load));
    let mut registry = aside(move || Registry::read(&workspace, path)).await?;
    let mut tried = Vec::new();
    loop {
        let load = load.clone();
        let (read, loaded) = aside(move || {
            let loaded = load(&registry);
            Ok((registry, loaded))
        })
        .await?;
        registry = read;
        match loaded {
            Err(RunError::NotLocal { url: Some(url), .. })
                if request.allow_fetch && tried.len() < MOST_FETCHED && !tried.contains(&url) =>
            {
                let text = fetch(runtime, by, &url, &request.cwd).await?;
                let (disk, address) = (disk.clone(), url.clone());
                registry = aside(move || registry.keep(&disk, &address, &text).map(|()| registry)).await?;
                tried.push(url);
            }
            loaded => return loaded,
        }
    }
}

/// Fetches the text at an address.
///
/// # Errors
/// When it cannot be fetched.
async fn fetch(runtime: &Handle, by: &Actor, url: &str, cwd: &Path) -> Result<String, RunError> {
    let call = runtime.begin_call(by, PROGRAM_CALL, Durability::Written, &json!({ "fetch": url })).await;
    let fetched = run(runtime, by, call, url, cwd).await;
    let said = match &fetched {
        Ok(text) => format!("fetched {url}: {} bytes", text.len()),
        Err(reason) => format!("{url}: {reason}"),
    };
    let envelope =
        Envelope::success(PROGRAM_CALL, &said, &json!({ "fetch": url, "is_fetched": fetched.is_ok() }));
    runtime.end_stream(call, &envelope, &said);
    fetched.map_err(|reason| RunError::NotFetched { url: url.to_owned(), reason })
}

async fn run(runtime: &Handle, by: &Actor, call: u64, url: &str, cwd: &Path) -> Result<String, String> {
    let most = SourceText::LIMIT_BYTES;
    let cmd = format!(
        "curl -fsSL --proto '=https' --proto-redir '=https' --max-redirs 5 --max-time {} --max-filesize {most} -- {}",
        TIMEOUT.as_secs(),
        quote(url)
    );
    let request = ExecRequest {
        actor: by.clone(),
        call,
        cmd,
        shell: Some(runtime.step_shell()),
        login: false,
        workdir: None,
        base: cwd.to_owned(),
        tty: false,
        size: None,
        accepts_input: false,
        yield_after: None,
        timeout: Some(TIMEOUT),
        leftovers: Leftovers::End,
        description: Some(format!("use {url}")),
        item: None,
        step: Some(ProgramStep { id: TaskId::random(), variables: Vec::new() }),
        native: None,
    };
    let ran = runtime.exec(request).await;
    runtime.catch_up().await;
    let task = match ran.map_err(|error| error.to_string())? {
        ExecOutcome::Completed(task) => task,
        _ => return Err("it did not end in time".to_owned()),
    };
    let output = runtime.output_of(&task).map_err(|error| error.to_string())?;
    let read = |stream| output.beginning(stream, most as u64);
    let status = task.ended.as_ref().and_then(|ended| ended.exit_status);
    if status != Some(0) {
        let (said, _) = read(OutputStream::Stderr).await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        return Err(if said.is_empty() { "curl failed".to_owned() } else { said });
    }
    match read(OutputStream::Stdout).await.map_err(|error| error.to_string())? {
        (bytes, true) => String::from_utf8(bytes).map_err(|_| "it is not text".to_owned()),
        (_, false) => Err(format!("it is longer than {most} bytes")),
    }
}
