//! Files that look like secrets: the ledger keeps no copy of them, only a digest, to tell whether they differ. Pure.

use std::path::Path;

/// Whole names, in lower case.
const NAMES: [&str; 16] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
];
/// What names begin with.
const BEGINNINGS: [&str; 7] =
    [".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "service-account", "service_account"];
/// What names end with.
const ENDINGS: [&str; 11] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg", ".tfstate"];
/// Folders in which every file is one.
const FOLDERS: [&str; 5] = [".ssh", ".gnupg", ".aws", ".kube", ".docker"];

/// Tells whether a file looks like a secret, by its path. Public keys do not, nor do examples of `.env`.
pub(super) fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if [".example", ".sample", ".template", ".dist", ".pub"].iter().any(|end| name.ends_with(end)) {
        return false;
    }
    NAMES.contains(&&*name)
        || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        || ENDINGS.iter().any(|end| name.ends_with(end))
        || path.parent().is_some_and(|above| {
            above.iter().any(|part| part.to_str().is_some_and(|part| FOLDERS.contains(&part)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_by_its_name() {
        for path in [".env", "a/.env.local", "ID_RSA", "tls/server.key", ".ssh/config", "x/secrets.yml"] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
        for path in [".env.example", "id_rsa.pub", "src/env.rs", "keyboard.rs", "docs/credentials.md"] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
