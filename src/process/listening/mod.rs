//! What the processes of tasks listen on: sockets that accept connections, and whose they are.

mod diag;
mod owners;
mod tables;

use crate::model::ListenAddress;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::clock;
use crate::envelope::{TaskId, one_line};

/// The most sockets that are looked at.
const MOST_SOCKETS: usize = 4_096;
/// The maximum length of a unix socket's path, in characters: the kernel's own limit.
const PATH_CHARS: usize = 108;
/// How often a socket's owner is looked for: a process may just be starting when it is looked for first.
const TRIES: u8 = 2;
/// How many passes in a row must miss a socket before it counts as closed: a pass may miss one.
const MISSES: u8 = 2;
/// A task is new for this many passes: what nobody seemed to own may be its.
const NEW: u32 = 2;

/// A socket that accepts connections.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListeningSocket {
    inode: u64,
    at: ListenAddress,
    /// The id of the control group it was made in, where known.
    group: Option<u64>,
}

/// A live task whose sockets are looked for.
#[derive(Debug, Clone)]
pub struct WatchedTask {
    pub id: TaskId,
    /// The process id of its host.
    pub host: u32,
}

/// A task began or ceased to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenChange {
    pub task: TaskId,
    /// Where.
    pub at: ListenAddress,
    /// Whether it began.
    pub is_open: bool,
}

/// What is known of the machine's listening sockets: only what was not there before needs an owner.
#[derive(Debug, Default)]
pub struct ListeningWatch {
    known: HashMap<u64, KnownSocket>,
    /// The tasks of the last pass, and how many passes each has seen.
    ages: HashMap<TaskId, u32>,
    /// Those with processes in other network namespaces.
    contained: HashSet<TaskId>,
    shown: BTreeSet<(TaskId, ListenAddress)>,
    is_netlink_refused: bool,
}

#[derive(Debug)]
struct KnownSocket {
    at: ListenAddress,
    owner: Option<TaskId>,
    tries: u8,
    misses: u8,
}

impl ListeningWatch {
    /// Looks once, and returns what has changed for these tasks since the last look. Blocks.
    pub fn look(&mut self, tasks: &[WatchedTask]) -> Vec<ListenChange> {
        let due = self.grow(tasks);
        let Some(mut sockets) = self.sockets() else { return Vec::new() };
        for task in tasks.iter().filter(|task| due.contains(&task.id)) {
            let found = owners::contained_sockets(task);
            if found.is_empty() {
                self.contained.remove(&task.id);
            } else {
                self.contained.insert(task.id.clone());
            }
            sockets.extend(found);
        }
        self.update(sockets, tasks, owners::find)
    }

    /// Returns the ports of this machine that the last look has seen, whosever they are.
    #[must_use]
    pub fn ports(&self) -> Vec<u16> {
        self.known
            .values()
            .filter(|known| known.misses == 0)
            .filter_map(|known| known.at.own_port())
            .collect()
    }

    /// Counts this pass for each task; returns those whose network namespaces are to be looked at.
    fn grow(&mut self, tasks: &[WatchedTask]) -> HashSet<TaskId> {
        let ids: HashSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
        self.ages.retain(|id, _| ids.contains(id));
        self.contained.retain(|id| ids.contains(id));
        let mut due = HashSet::new();
        for task in tasks {
            let age = self.ages.entry(task.id.clone()).or_default();
            *age = age.saturating_add(1);
            if clock::is_look_due(*age) || self.contained.contains(&task.id) {
                due.insert(task.id.clone());
            }
        }
        due
    }

    fn sockets(&mut self) -> Option<Vec<ListeningSocket>> {
        if !self.is_netlink_refused {
            match diag::listening() {
                Ok(sockets) => return sockets,
                Err(error) => {
                    tracing::debug!(%error, "listening sockets are read from /proc");
                    self.is_netlink_refused = true;
                }
            }
        }
        tables::listening(Path::new("/proc/self/net")).ok()
    }

    /// Compares a pass with what was known. Pure, but for `find`, which finds the owners of sockets.
    fn update(
        &mut self,
        sockets: Vec<ListeningSocket>,
        tasks: &[WatchedTask],
        find: impl Fn(&[ListeningSocket], &[WatchedTask]) -> HashMap<u64, TaskId>,
    ) -> Vec<ListenChange> {
        let is_new = |task: &&WatchedTask| self.ages.get(&task.id).is_some_and(|age| *age <= NEW);
        let newcomers: Vec<WatchedTask> = tasks.iter().filter(is_new).cloned().collect();
        let (mut fresh, mut strangers) = (Vec::new(), Vec::new());
        self.known.values_mut().for_each(|known| known.misses += 1);
        for socket in sockets {
            let known = self.known.entry(socket.inode).or_insert_with(|| KnownSocket {
                at: socket.at.clone(),
                owner: None,
                tries: TRIES,
                misses: 0,
            });
            known.misses = 0;
            if known.at != socket.at {
                known.at = socket.at.clone();
            }
            if known.owner.is_some() {
                continue;
            }
            if known.tries > 0 {
                known.tries -= 1;
                fresh.push(socket);
            } else if !newcomers.is_empty() {
                strangers.push(socket);
            }
        }
        self.known.retain(|_, known| known.misses < MISSES);
        for (sockets, tasks) in [(fresh, tasks), (strangers, &newcomers[..])] {
            let owners = if sockets.is_empty() { HashMap::new() } else { find(&sockets, tasks) };
            for (inode, owner) in owners {
                self.known.entry(inode).and_modify(|known| known.owner = Some(owner));
            }
        }
        self.changes(tasks)
    }

    fn changes(&mut self, tasks: &[WatchedTask]) -> Vec<ListenChange> {
        let live: HashSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
        self.known.retain(|_, known| known.owner.as_ref().is_none_or(|owner| live.contains(owner)));
        let now: BTreeSet<_> =
            self.known.values().filter_map(|known| Some((known.owner.clone()?, known.at.clone()))).collect();
        let change = |is_open: bool| {
            move |(task, at): &(TaskId, ListenAddress)| ListenChange {
                task: task.clone(),
                at: at.clone(),
                is_open,
            }
        };
        // The end of a task says that its sockets are closed.
        let gone = self.shown.difference(&now).filter(|(task, _)| live.contains(task)).map(change(false));
        let changes = gone.chain(now.difference(&self.shown).map(change(true))).collect();
        self.shown = now;
        changes
    }
}

/// Returns the address of a unix socket, if it has an absolute path.
fn unix_path(name: &[u8]) -> Option<ListenAddress> {
    let name = name.strip_suffix(&[0]).unwrap_or(name);
    let path = one_line(&String::from_utf8_lossy(name), PATH_CHARS);
    path.starts_with('/').then_some(ListenAddress::Unix(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: u8) -> WatchedTask {
        WatchedTask { id: TaskId::from_random([name; 8]), host: u32::from(name) }
    }

    fn socket(inode: u64, port: u16) -> ListeningSocket {
        let at = ListenAddress::Tcp(([127, 0, 0, 1], port).into());
        ListeningSocket { inode, at, group: None }
    }

    /// One pass in which `owner` holds every socket that needs an owner; returns the changes and how many needed one.
    fn pass(
        watch: &mut ListeningWatch,
        sockets: &[ListeningSocket],
        tasks: &[WatchedTask],
        owner: Option<&WatchedTask>,
    ) -> (Vec<String>, usize) {
        let asked = std::cell::Cell::new(0);
        watch.grow(tasks);
        let changes = watch.update(sockets.to_vec(), tasks, |unowned, _| {
            asked.set(asked.get() + unowned.len());
            let owned = |socket: &ListeningSocket| Some((socket.inode, owner?.id.clone()));
            unowned.iter().filter_map(owned).collect()
        });
        let sign = |change: &ListenChange| format!("{}{}", if change.is_open { '+' } else { '-' }, change.at);
        (changes.iter().map(sign).collect(), asked.get())
    }

    #[test]
    fn only_what_is_new_needs_an_owner_and_is_told_once() {
        let (mut watch, tasks) = (ListeningWatch::default(), [task(b'a')]);
        let sockets = [socket(1, 80), socket(2, 80), socket(3, 81)];
        let owner = tasks.first();
        let opened = ["+127.0.0.1:80", "+127.0.0.1:81"].map(str::to_owned).to_vec();
        assert_eq!(pass(&mut watch, &sockets, &tasks, owner), (opened, 3));
        assert_eq!(pass(&mut watch, &sockets, &tasks, owner), (vec![], 0));
        assert_eq!(pass(&mut watch, &sockets[1..], &tasks, owner), (vec![], 0));
        assert_eq!(pass(&mut watch, &sockets[2..], &tasks, owner), (vec![], 0), "a pass may miss one");
        let closed = vec!["-127.0.0.1:80".to_owned()];
        assert_eq!(pass(&mut watch, &sockets[2..], &tasks, owner), (closed, 0), "the last of two");
    }

    #[test]
    fn the_owner_of_a_foreign_socket_is_looked_up_again_only_when_a_task_comes() {
        let (mut watch, tasks) = (ListeningWatch::default(), [task(b'a'), task(b'b')]);
        let sockets = [socket(1, 80)];
        let asked: Vec<_> = (0..4).map(|_| pass(&mut watch, &sockets, &tasks[..1], None).1).collect();
        assert_eq!(asked, [1, 1, 0, 0]);
        let (changes, asked) = pass(&mut watch, &sockets, &tasks, tasks.last());
        assert_eq!((changes.len(), asked), (1, 1));
    }

    #[test]
    fn the_end_of_a_task_closes_its_sockets_without_a_word() {
        let (mut watch, tasks) = (ListeningWatch::default(), [task(b'a'), task(b'b')]);
        let sockets = [socket(1, 80)];
        assert_eq!(pass(&mut watch, &sockets, &tasks, tasks.first()).0.len(), 1);
        assert_eq!(pass(&mut watch, &[], &tasks[1..], None), (vec![], 0));
        assert!(watch.known.is_empty() && watch.shown.is_empty());
    }

    #[test]
    fn namespaces_are_looked_at_ever_less_often() {
        let (mut watch, tasks) = (ListeningWatch::default(), [task(b'a')]);
        let due: Vec<u32> = (1..=130).filter(|_| !watch.grow(&tasks).is_empty()).collect();
        assert_eq!(due, [1, 2, 4, 8, 16, 32, 60, 120]);
    }

    #[test]
    fn a_socket_path_is_shown_without_control_characters_and_an_abstract_name_is_not_shown() {
        assert_eq!(unix_path(b"/run/a\x1b[2J\0").map(|at| at.to_string().contains('\x1b')), Some(false));
        assert_eq!(unix_path(b"\0abstract"), None);
        assert_eq!(unix_path(b""), None);
    }
}
