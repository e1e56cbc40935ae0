//! To whom a file or a folder belongs, what others may do with it, and its extended attributes: read, and given to what
//! takes its place. Blocks.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::Path;

use rustix::fs::{FileType, Stat, XattrFlags, lgetxattr, llistxattr, lremovexattr, lsetxattr, lstat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// The most bytes of the names of a file's attributes, and of all that are kept.
const MOST_NAMES: usize = 4 << 10;
const MOST_BYTES: usize = 16 << 10;
/// What only the kernel writes.
const MEASURED: [&[u8]; 2] = [b"security.ima", b"security.evm"];

/// The rights of a file, a link or a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileRights {
    /// The permissions, with the special ones.
    pub permissions: u32,
    pub(super) owner: u32,
    group: u32,
    /// Its extended attributes by name, among them its list of who else may use it; `None` if they are more than is kept.
    pub(super) attributes: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl FileRights {
    /// Reads those of what is at a path with these facts. A link is not followed.
    pub(super) fn read(path: &Path, facts: &Stat) -> Self {
        let (permissions, owner, group) = (facts.st_mode & 0o7777, facts.st_uid, facts.st_gid);
        Self { permissions, owner, group, attributes: attributes(path) }
    }

    /// Returns what files in a folder with these rights usually have: its owner and group, and its label.
    pub(super) fn usual(self) -> Self {
        let is_label = |(name, _): &(Vec<u8>, Vec<u8>)| name.starts_with(b"security.");
        let attributes = self.attributes.unwrap_or_default();
        Self { attributes: Some(attributes.into_iter().filter(is_label).collect()), ..self }
    }

    /// Tells whether they are the usual ones of a file or link with this mode.
    pub(super) fn are_usual(&self, usual: &Self, mode: &str) -> bool {
        (self.owner, self.group, &self.attributes) == (usual.owner, usual.group, &usual.attributes)
            && self.permissions == permissions(mode)
    }

    /// Returns the usual ones for a file or link with this mode.
    pub(super) fn with_mode(&self, mode: &str) -> Self {
        Self { permissions: permissions(mode), ..self.clone() }
    }

    /// Returns how many bytes its attributes have.
    pub(super) fn bytes(&self) -> usize {
        self.attributes.iter().flatten().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// Gives them to what was just made at a path, where nobody else can reach it.
    ///
    /// # Errors
    /// If one of them cannot be given, or is not the same then.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        let refused = |error: io::Error| {
            let Self { owner, group, .. } = self;
            let text = format!(
                "it cannot have the owner (user {owner}, group {group}), permissions and attributes that it had: {error}"
            );
            io::Error::other(text)
        };
        self.set(path).map_err(refused)?;
        match Self::read(path, &lstat(path)?) == *self {
            true => Ok(()),
            false => Err(refused(io::Error::other("the file system does not keep them"))),
        }
    }

    fn set(&self, path: &Path) -> io::Result<()> {
        let wanted = self.attributes.as_ref().ok_or(Errno::TOOBIG)?;
        let now = Self::read(path, &lstat(path)?);
        // This comes first: it takes special permissions and capabilities away.
        if (now.owner, now.group) != (self.owner, self.group) {
            lchown(path, Some(self.owner), Some(self.group))?;
        }
        let has = now.attributes.unwrap_or_default();
        for (name, _) in has.iter().filter(|(name, _)| wanted.iter().all(|(own, _)| own != name)) {
            lremovexattr(path, &name[..])?;
        }
        for (name, value) in wanted.iter().filter(|one| !has.contains(one)) {
            lsetxattr(path, &name[..], value, XattrFlags::empty())?;
        }
        let now = lstat(path)?;
        if FileType::from_raw_mode(now.st_mode) == FileType::Symlink {
            return Ok(());
        }
        // A file system may ignore who is to own it.
        let is_theirs = (now.st_uid, now.st_gid) == (self.owner, self.group);
        let most = if is_theirs { 0o7777 } else { 0o777 };
        set_permissions(path, Permissions::from_mode(self.permissions & most))
    }
}

/// Returns git's mode of a file or link with these facts.
pub(super) fn mode(facts: &Stat) -> &'static str {
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::Symlink => "120000",
        _ if facts.st_mode & 0o100 == 0 => "100644",
        _ => "100755",
    }
}

/// Returns the permissions that git's mode stands for.
fn permissions(mode: &str) -> u32 {
    match mode {
        "120000" => 0o777,
        "100755" => 0o755,
        _ => 0o644,
    }
}

/// Reads the extended attributes of what is at a path; `None` if they are more than is kept, or closed to us.
fn attributes(path: &Path) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut names = [0; MOST_NAMES];
    let length = match llistxattr(path, &mut names[..]) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
        length => length.ok()?,
    };
    let (mut all, mut bytes) = (Vec::new(), 0);
    let names = names.get(..length)?.split(|byte| *byte == 0);
    for name in names.filter(|name| !name.is_empty() && !MEASURED.contains(name)) {
        let mut value = vec![0; MOST_BYTES];
        let length = match lgetxattr(path, name, &mut value[..]) {
            Err(Errno::NODATA) => continue,
            length => length.ok()?,
        };
        value.truncate(length);
        value.shrink_to_fit();
        bytes += name.len() + length;
        if bytes > MOST_BYTES {
            return None;
        }
        all.push((name.to_vec(), value));
    }
    all.sort();
    Some(all)
}
