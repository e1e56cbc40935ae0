//! Whose a listening socket is: the task whose processes hold it, and what they hold in other network namespaces.

use crate::model::ListenAddress;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::{ListeningSocket, WatchedTask, tables};
use crate::envelope::TaskId;
use crate::process::{cgroup, tree};

/// Descriptors inspected per process.
const MOST_DESCRIPTORS: usize = 4_096;

/// Finds which task each of `sockets` belongs to: by its control group, else by the descriptors of the tasks' trees.
pub(super) fn find(sockets: &[ListeningSocket], tasks: &[WatchedTask]) -> HashMap<u64, TaskId> {
    let groups: HashMap<u64, &TaskId> =
        tasks.iter().filter_map(|task| Some((cgroup::id_of(task.id.as_str())?, &task.id))).collect();
    let owner = |socket: &ListeningSocket| socket.group.and_then(|group| groups.get(&group)).copied();
    let mut owners: HashMap<u64, TaskId> =
        sockets.iter().filter_map(|socket| Some((socket.inode, owner(socket)?.clone()))).collect();
    let mut wanted: HashSet<u64> = sockets.iter().map(|socket| socket.inode).collect();
    wanted.retain(|inode| !owners.contains_key(inode));
    for task in tasks {
        if wanted.is_empty() {
            break;
        }
        for process in tree::descendants(task.host.cast_signed()) {
            for inode in sockets_of(process.pid).filter(|inode| wanted.contains(inode)).collect::<Vec<_>>() {
                wanted.remove(&inode);
                owners.insert(inode, task.id.clone());
            }
        }
    }
    owners
}

/// Returns the TCP sockets that listen in network namespaces of a task's processes other than this one's.
pub(super) fn contained_sockets(task: &WatchedTask) -> Vec<ListeningSocket> {
    let mut seen: HashSet<_> = namespace(Path::new("/proc/self")).into_iter().collect();
    let mut sockets = Vec::new();
    if seen.is_empty() {
        return sockets;
    }
    for process in tree::descendants(task.host.cast_signed()) {
        let folder = Path::new("/proc").join(process.pid.to_string());
        if !namespace(&folder).is_some_and(|other| seen.insert(other)) {
            continue;
        }
        let found = tables::read_tcp(&folder.join("net")).unwrap_or_default();
        sockets.extend(found.into_iter().map(|socket| match socket.at {
            ListenAddress::Tcp(at) => ListeningSocket { at: ListenAddress::Contained(at), ..socket },
            _ => socket,
        }));
    }
    sockets
}

fn namespace(process: &Path) -> Option<std::path::PathBuf> {
    fs::read_link(process.join("ns/net")).ok()
}

/// Lists the sockets that a process holds. Those of another user's process are not visible.
fn sockets_of(pid: i32) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.take(MOST_DESCRIPTORS).filter_map(|entry| inode(&fs::read_link(entry.path()).ok()?))
}

/// Parses the target of a descriptor that is a socket: `socket:[4242]`.
fn inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_told_from_others_by_its_target() {
        assert_eq!(inode(Path::new("socket:[4242]")), Some(4242));
        for other in ["pipe:[4242]", "/dev/null", "socket:[x]", "socket:[1"] {
            assert_eq!(inode(Path::new(other)), None);
        }
    }

    #[test]
    fn the_sockets_of_this_process_are_listed() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let inode = rustix::fs::fstat(&socket).expect("a file").st_ino;
        let own = i32::try_from(std::process::id()).expect("a pid");
        assert!(sockets_of(own).any(|found| found == inode));
    }

    #[test]
    fn without_a_group_the_tree_that_holds_a_socket_tells_whose_it_is() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let inode = rustix::fs::fstat(&socket).expect("a file").st_ino;
        let mut holder = std::process::Command::new("sleep");
        let mut holder = holder.arg("300").stdin(std::os::fd::OwnedFd::from(socket)).spawn().expect("starts");
        let at = ListenAddress::Tcp(([127, 0, 0, 1], 1).into());
        let task = |name: u8, host| WatchedTask { id: TaskId::from_random([name; 8]), host };
        let tasks = [task(b'a', u32::MAX), task(b'b', std::process::id())];
        let owners = find(&[ListeningSocket { inode, at, group: None }], &tasks);
        holder.kill().expect("killed");
        holder.wait().expect("reaped");
        assert_eq!(owners, HashMap::from([(inode, TaskId::from_random([b'b'; 8]))]));
    }
}
