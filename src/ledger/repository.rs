//! What is read of the user's own `.git`: a few files, as files. Git never runs there.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::files::{self, Links};

/// The most bytes of such a file.
const MOST: u64 = 256 << 10;
/// The most bytes of the file that lists all packed references.
pub(super) const MOST_REFERENCES: u64 = 16 << 20;

/// The folders of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFiles {
    /// The folder of this working tree: `.git`, or one in `.git/worktrees` for a linked one.
    pub(super) own: PathBuf,
    /// The folder that all working trees of the repository share.
    pub(super) common: PathBuf,
}

impl RepositoryFiles {
    /// Finds the folders of the repository whose tree this is the top of; `None` for a plain folder. Blocks.
    #[must_use]
    pub fn find(top: &Path) -> Option<Self> {
        let path = top.join(".git");
        let own = if path.is_dir() { path } else { top.join(line(&path, b"gitdir: ")?) };
        let common = line(&own.join("commondir"), b"").map_or_else(|| own.clone(), |common| own.join(common));
        own.join("HEAD").symlink_metadata().ok()?;
        Some(Self { own, common })
    }

    /// Tells whether both are working trees of one repository. Blocks.
    #[must_use]
    pub fn is_of_same_repository(&self, other: &Self) -> bool {
        let common = |files: &Self| files.common.canonicalize().ok();
        common(self).is_some_and(|own| common(other) == Some(own))
    }

    /// Returns the folder of its objects, if they are named as ours are, by SHA-1. Blocks.
    pub(super) fn objects(&self) -> Option<PathBuf> {
        let config = read(&self.common.join("config"), MOST).unwrap_or_default().to_ascii_lowercase();
        let is_sha256 = memchr::memmem::find(&config, b"sha256").is_some();
        let objects = self.common.join("objects").canonicalize().ok()?;
        let bytes = objects.as_os_str().as_bytes();
        // In the file that names it, these begin something else.
        let is_plain = !bytes.contains(&b'\n') && !bytes.contains(&b'"');
        (!is_sha256 && is_plain).then_some(objects)
    }

    /// Returns its ignore rules that are in no tree. Blocks.
    pub(super) fn exclude(&self) -> Vec<u8> {
        read(&self.common.join("info/exclude"), MOST).unwrap_or_default()
    }

    /// Returns the commit that is checked out, as 40 digits. Blocks.
    #[must_use]
    pub fn head(&self) -> Option<String> {
        let head = read(&self.own.join("HEAD"), MOST)?;
        let Some(name) = head.strip_prefix(b"ref: ") else { return commit(&head) };
        let name = name.trim_ascii_end();
        let path = Path::new(std::ffi::OsStr::from_bytes(name));
        let is_inside = path.starts_with("refs")
            && path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_inside {
            return None;
        }
        if let Some(loose) = read(&self.common.join(path), MOST) {
            return commit(&loose);
        }
        let packed = read(&self.common.join("packed-refs"), MOST_REFERENCES)?;
        let mut lines = packed.split(|byte| *byte == b'\n');
        lines.find_map(|line| line.strip_suffix(name)?.strip_suffix(b" ").and_then(commit))
    }
}

pub(super) fn commit(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    (text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

pub(super) fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    files::read(path, Links::Followed, most).ok()
}

/// Returns the path in a file of one line that begins like this.
fn line(path: &Path, begin: &[u8]) -> Option<PathBuf> {
    let bytes = read(path, MOST)?;
    let rest = bytes.strip_prefix(begin)?.trim_ascii_end();
    (!rest.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_vec(rest.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_tree_is_of_the_repository_of_its_main_tree_and_of_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let [main, linked, other] = ["main", "linked", "other"].map(|name| folder.path().join(name));
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        for top in [&main, &other] {
            write(top.join(".git/HEAD"), "ref: refs/heads/main\n");
        }
        write(main.join(".git/worktrees/linked/HEAD"), "ref: refs/heads/fix\n");
        write(main.join(".git/worktrees/linked/commondir"), "../..\n");
        write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n");
        let [main, linked, other] =
            [main, linked, other].map(|top| RepositoryFiles::find(&top).expect("a repository"));
        assert!(linked.is_of_same_repository(&main) && main.is_of_same_repository(&linked));
        assert!(!other.is_of_same_repository(&main));
    }

    #[test]
    fn the_commit_is_read_from_loose_and_packed_references_and_from_a_linked_tree() {
        let temp = tempfile::tempdir().expect("temp dir");
        let git = temp.path().join("main/.git");
        std::fs::create_dir_all(git.join("refs/heads")).expect("folders");
        std::fs::create_dir_all(git.join("worktrees/linked")).expect("folders");
        let write = |path: &str, text: &str| std::fs::write(git.join(path), text).expect("written");
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        write("HEAD", "ref: refs/heads/main\n");
        write("packed-refs", &format!("# pack-refs with: peeled\n{one} refs/heads/main\n"));
        let found = RepositoryFiles::find(&temp.path().join("main")).expect("a repository");
        assert_eq!(found.head().as_ref(), Some(&one));
        write("refs/heads/main", &format!("{two}\n"));
        assert_eq!(found.head().as_ref(), Some(&two));
        write("worktrees/linked/HEAD", &format!("{one}\n"));
        write("worktrees/linked/commondir", "../..\n");
        let linked = temp.path().join("linked");
        std::fs::create_dir(&linked).expect("a folder");
        std::fs::write(linked.join(".git"), format!("gitdir: {}\n", git.join("worktrees/linked").display()))
            .expect("written");
        assert_eq!(RepositoryFiles::find(&linked).expect("a repository").head(), Some(one));
        write("HEAD", "ref: refs/../../../outside\n");
        assert_eq!(found.head(), None);
        assert_eq!(RepositoryFiles::find(temp.path()), None);
    }
}
