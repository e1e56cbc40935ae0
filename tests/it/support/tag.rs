//! A mark on the command lines of one test's processes: a process that carries it is still alive.

use std::sync::atomic::{AtomicU32, Ordering};

/// How many processes of one hostile tree (sleeps and shells) have the tag on their own command line.
pub(crate) const HOLDERS: usize = 11;

/// A sleep duration that nothing else uses: its processes are found by their command lines.
pub(crate) struct Tag(pub(crate) String);

impl Tag {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("300.{:07}{number:04}", std::process::id()))
    }

    /// Process ids of everything with the tag on its command line; a zombie's command line is empty.
    pub(crate) fn holders(&self) -> Vec<u32> {
        let pids = std::fs::read_dir("/proc").expect("lists").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let holds = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&self.0)
        };
        pids.filter(holds).collect()
    }

    /// Waits until one of the holders has become the `sleep` that it was forked for.
    pub(crate) fn asleep(&self) {
        let is_asleep = |pid: &u32| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        };
        super::wait_until("someone sleeps", || self.holders().iter().any(is_asleep));
    }

    /// A command with seven ways of surviving a request to end.
    pub(crate) fn hostile_tree(&self) -> String {
        let tag = &self.0;
        [
            "trap '' TERM HUP INT",
            &format!("setsid sleep {tag} &"),
            &format!("( ( exec sleep {tag} ) & )"),
            &format!("nohup sleep {tag} > /dev/null 2>&1 &"),
            &format!("sh -c 'kill -STOP $$; sleep {tag}' &"),
            &format!("setsid -f sh -c 'trap \"\" TERM HUP; sleep {tag} & setsid -f sleep {tag}; wait'"),
            &format!("bash -mc 'sleep {tag} & wait' &"),
            &format!("echo ready; while :; do sleep {tag}; done"),
        ]
        .join("\n")
    }
}
