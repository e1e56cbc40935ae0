//! Reading task logs alongside the loop. Logs of tasks on another machine are copied first, as far as they
//! are new.

use std::sync::Arc;

use crate::model::TaskView;
use crate::terminal::Size;

use super::effects::Effects;
use super::pages;
use crate::console::msg::Msg;
use crate::console::plain::output::Purpose;
use crate::console::state::{Anchor, CoveredCommand, SearchQuery};

impl Effects {
    /// Reads from logs, once those on other machines have been copied here. If copying fails, reads what was
    /// copied before.
    fn read_logs(&mut self, tasks: Vec<Arc<TaskView>>, read: impl FnOnce() -> Option<Msg> + Send + 'static) {
        self.read_copied(tasks, |_| read());
    }

    /// The same; what reads is told why logs of other machines could not be copied.
    fn read_copied(
        &mut self,
        tasks: Vec<Arc<TaskView>>,
        read: impl FnOnce(Vec<String>) -> Option<Msg> + Send + 'static,
    ) {
        let operator = self.operator.clone();
        let far: Vec<Arc<TaskView>> = tasks.into_iter().filter(|task| operator.is_elsewhere(task)).collect();
        if far.is_empty() {
            self.running.spawn_blocking(|| read(Vec::new()));
            return;
        }
        self.running.spawn(async move {
            let mut unread = Vec::new();
            for task in far {
                if let Err(error) = operator.copy_log(&task).await {
                    tracing::info!(%error, task = %task.id, "a log of another machine was not copied");
                    unread.push(error.to_string());
                }
            }
            tokio::task::spawn_blocking(|| read(unread))
                .await
                .unwrap_or_else(|error| Some(Msg::Failed(error.to_string())))
        });
    }

    /// Reads a page of a task's log.
    pub(in crate::console) fn page(&mut self, task: Arc<TaskView>, anchor: Anchor, size: Size) {
        self.read_copied(vec![Arc::clone(&task)], move |unread| match pages::read(&task, anchor, size) {
            Ok(page) => Some(Msg::Page(task.id.clone(), page)),
            // A task that never started has no log, which is not an error by itself.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let why = unread.into_iter().next()?;
                Some(Msg::Failed(format!("read the log of the task: {why}")))
            }
            Err(error) => Some(Msg::Failed(format!("read the log of the task: {error}"))),
        });
    }

    /// Reads the output of a watched task, in whole lines while it runs. Read errors count as no output.
    pub(in crate::console) fn read_watched(&mut self, task: Arc<TaskView>, from: u64) {
        self.read_logs(vec![Arc::clone(&task)], move || {
            let read = pages::since(&task, from, Purpose::Watched);
            let (text, next) = read.map_or((String::new(), from), |read| (read.text, read.next));
            Some(Msg::Watched(task.id.clone(), text, next))
        });
    }

    /// Opens the log of a task for a replay.
    pub(in crate::console) fn replay(&mut self, task: Arc<TaskView>) {
        let player = Arc::clone(&self.player);
        self.read_logs(vec![Arc::clone(&task)], move || Some(player.open(&task)));
    }

    /// Reads the transcripts behind an answer.
    pub(in crate::console) fn read_coverage(
        &mut self,
        call: u64,
        shown: Vec<(CoveredCommand, Option<Arc<TaskView>>)>,
    ) {
        let known = shown.iter().filter_map(|(_, task)| task.clone()).collect();
        self.read_logs(known, move || Some(Msg::Coverage(call, pages::read_coverage(shown))));
    }

    /// Searches a task's log.
    pub(in crate::console) fn search(&mut self, task: Arc<TaskView>, query: SearchQuery) {
        self.read_copied(vec![Arc::clone(&task)], move |unread| {
            match (pages::search(&task, &query), unread.first()) {
                // What is not here is not known to be nowhere.
                (Ok((None, _)), Some(why)) => Some(Msg::Failed(format!("search the log of the task: {why}"))),
                (Err(error), Some(why)) if error.kind() == std::io::ErrorKind::NotFound => {
                    Some(Msg::Failed(format!("search the log of the task: {why}")))
                }
                (Ok((line, counted)), _) => Some(Msg::Found(task.id.clone(), query, line, counted)),
                (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => {
                    Some(Msg::Found(task.id.clone(), query, None, None))
                }
                (Err(error), _) => Some(Msg::Failed(format!("search the log of the task: {error}"))),
            }
        });
    }

    /// Searches the logs of some tasks.
    pub(in crate::console) fn search_all(&mut self, ticket: u64, needle: String, tasks: Vec<Arc<TaskView>>) {
        self.read_copied(tasks.clone(), move |unread| {
            Some(Msg::FoundAll(ticket, pages::search_all(&tasks, &needle), unread))
        });
    }

    /// Searches a task's log for a prompt.
    pub(in crate::console) fn prompt(&mut self, task: Arc<TaskView>, from: Option<u64>, forward: bool) {
        self.read_logs(vec![Arc::clone(&task)], move || match pages::prompt(&task, from, forward) {
            Ok(line) => Some(Msg::Prompt { task: task.id.clone(), line, forward }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(Msg::Prompt { task: task.id.clone(), line: None, forward })
            }
            Err(error) => Some(Msg::Failed(format!("look for prompts in the log of the task: {error}"))),
        });
    }

    /// Reads the output of a task's last command.
    pub(in crate::console) fn last_output(&mut self, task: Arc<TaskView>) {
        self.read_logs(vec![Arc::clone(&task)], move || match pages::last_output(&task) {
            Ok((text, is_marked)) => Some(Msg::LastOutput(text, is_marked)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(Msg::LastOutput(String::new(), false))
            }
            Err(error) => Some(Msg::Failed(format!("read the log of the task: {error}"))),
        });
    }
}
