//! The references of a repository, read as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::repository::{MOST_REFERENCES, RepositoryFiles, commit, read};
use crate::consequence::GitRefs;

/// The most references that are read from files of their own.
const MOST: usize = 2_000;
/// The most bytes of the index.
const MOST_INDEX: u64 = 64 << 20;

impl RepositoryFiles {
    /// Returns its references. Blocks.
    #[must_use]
    pub fn references(&self) -> GitRefs {
        let mut refs = GitRefs { head: self.head(), ..GitRefs::default() };
        let head = read(&self.own.join("HEAD"), MOST_REFERENCES).unwrap_or_default();
        let branch = head.strip_prefix(b"ref: refs/heads/").map(<[u8]>::trim_ascii_end);
        refs.branch = branch.map(|branch| String::from_utf8_lossy(branch).into_owned());
        let packed = read(&self.common.join("packed-refs"), MOST_REFERENCES).unwrap_or_default();
        for line in String::from_utf8_lossy(&packed).lines() {
            if let Some((id, name)) = line.split_once(' ')
                && let Some(id) = commit(id.as_bytes())
            {
                refs.all.insert(name.to_owned(), id);
            }
        }
        let mut open = vec![PathBuf::from("refs")];
        let mut count = 0;
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(self.common.join(&folder)).into_iter().flatten().flatten() {
                count += 1;
                let (name, kind) = (folder.join(entry.file_name()), entry.file_type());
                match kind {
                    Ok(kind) if count <= MOST && kind.is_dir() => open.push(name),
                    Ok(kind) if count <= MOST && kind.is_file() => {
                        let id = read(&entry.path(), 1 << 10).and_then(|text| commit(&text));
                        refs.all.extend(id.map(|id| (name.to_string_lossy().into_owned(), id)));
                    }
                    _ => {}
                }
            }
        }
        let fetched = |name: &str| -> Option<u64> {
            let changed = self.common.join(name).symlink_metadata().ok()?.modified().ok()?;
            Some(changed.elapsed().unwrap_or_default().as_secs())
        };
        refs.fetched = fetched("FETCH_HEAD").or_else(|| fetched("refs/remotes"));
        refs.stashes = Some(match read(&self.common.join(Path::new("logs/refs/stash")), MOST_REFERENCES) {
            Some(log) => log.iter().filter(|byte| **byte == b'\n').count() as u64,
            None => u64::from(refs.all.contains_key("refs/stash")),
        });
        refs
    }

    /// Returns the index, and when it was written at the latest: git compares the contents of files that are as young, since
    /// their times say nothing. Blocks.
    pub(super) fn index(&self) -> Option<(Vec<u8>, SystemTime)> {
        let path = self.own.join("index");
        // Before it is read: an earlier time only makes git look at more files.
        let written = path.metadata().ok()?.modified().ok()?;
        Some((read(&path, MOST_INDEX)?, written))
    }
}
