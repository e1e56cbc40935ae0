//! Commands whose objects are elsewhere: only what they name can be said, because nobody is asked.

use std::collections::BTreeSet;

use crate::consequence::{Class, Fact, FactKind};
use crate::fields::Argument;
use crate::interpreter::Interpreter;
use crate::names::shorten;

/// Words that a command must have, in their order, and one of those that it must have besides; what is said of it.
type NamedCommand = (&'static [&'static str], &'static [&'static str], &'static str);

const NAMED: [NamedCommand; 38] = [
    (&["docker", "prune"], &[], "removes what Docker no longer uses"),
    (&["podman", "prune"], &[], "removes what Podman no longer uses"),
    (&["docker", "volume", "rm"], &[], "removes volumes with what is in them"),
    (&["docker", "rm"], &[], "removes containers with what is in them"),
    (&["docker", "rmi"], &[], "removes images"),
    (&["podman", "rm"], &[], "removes containers with what is in them"),
    (&["docker", "compose", "down"], &["-v", "--volumes"], "removes the volumes of the services"),
    (&["docker-compose", "down"], &["-v", "--volumes"], "removes the volumes of the services"),
    (&["kubectl", "delete"], &[], "deletes objects in the cluster"),
    (&["kubectl", "drain"], &[], "moves everything off a node"),
    (&["helm", "uninstall"], &[], "removes a release from the cluster"),
    (&["helm", "delete"], &[], "removes a release from the cluster"),
    (&["terraform", "destroy"], &[], "destroys the infrastructure"),
    (&["terraform", "apply"], &[], "changes the infrastructure"),
    (&["tofu", "destroy"], &[], "destroys the infrastructure"),
    (&["pulumi", "destroy"], &[], "destroys the infrastructure"),
    (
        &["rsync"],
        &[
            "--delete",
            "--del",
            "--delete-before",
            "--delete-after",
            "--delete-during",
            "--delete-excluded",
            "--remove-source-files",
        ],
        "deletes what the other side does not have",
    ),
    (&["npm", "publish"], &[], "publishes a package"),
    (&["pnpm", "publish"], &[], "publishes a package"),
    (&["yarn", "publish"], &[], "publishes a package"),
    (&["npm", "unpublish"], &[], "withdraws a package"),
    (&["cargo", "publish"], &[], "publishes a package"),
    (&["cargo", "yank"], &[], "withdraws a package"),
    (&["twine", "upload"], &[], "publishes a package"),
    (&["gem", "push"], &[], "publishes a package"),
    (&["poetry", "publish"], &[], "publishes a package"),
    (&["docker", "push"], &[], "replaces an image in a registry"),
    (&["gh", "repo", "delete"], &[], "deletes a repository on GitHub"),
    (&["gh", "release", "delete"], &[], "deletes a release on GitHub"),
    (&["gh", "pr", "merge"], &[], "merges a pull request"),
    (&["aws", "s3", "rm"], &[], "deletes objects in a bucket"),
    (&["aws", "s3", "rb"], &[], "deletes a bucket"),
    (&["aws", "s3", "sync"], &["--delete"], "deletes objects in a bucket"),
    (&["gsutil", "rm"], &[], "deletes objects in a bucket"),
    (&["gcloud", "delete"], &[], "deletes something in the cloud"),
    (&["az", "delete"], &[], "deletes something in the cloud"),
    (&["dropdb"], &[], "deletes a database"),
    (&["redis-cli"], &["FLUSHALL", "FLUSHDB", "flushall", "flushdb"], "deletes all keys"),
];

/// Programs that are given SQL.
const SQL: [&str; 6] = ["psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client"];

impl Interpreter<'_> {
    /// Notes what a command does elsewhere, if it is known to do that.
    pub(crate) fn is_elsewhere(&mut self, name: &str, arguments: &[Argument]) -> bool {
        let words: Vec<&str> =
            std::iter::once(name).chain(arguments.iter().map(Argument::display_text)).collect();
        let shown = shorten(&words.join(" "));
        let fits = |(needed, besides, _): &&NamedCommand| {
            let mut left = words.iter();
            let has_all = needed.first() == words.first()
                && needed.iter().all(|needed| left.any(|word| word == needed));
            has_all && (besides.is_empty() || words.iter().any(|word| besides.contains(word)))
        };
        let said = match NAMED.iter().find(fits) {
            Some((_, _, what)) => Some((*what).to_owned()),
            None if SQL.contains(&name) => words.iter().skip(1).find_map(|word| destructive_sql(word)),
            None => None,
        };
        let Some(said) = said else { return false };
        self.elsewhere(format!("{shown}: {said}; cannot be taken back"), false);
        true
    }

    /// Notes something that is not in files here.
    pub(crate) fn elsewhere(&mut self, text: String, is_possible: bool) {
        let is_possible = is_possible || self.conditions > 0;
        let text = if is_possible { format!("may happen: {text}") } else { text };
        let classes = BTreeSet::from([Class::Remote]);
        let kind = FactKind::Elsewhere;
        self.fact(Fact { kind, is_possible, text, classes, files: 0, bytes: 0, paths: Vec::new() });
    }
}

/// Returns what a text of SQL would delete, if it begins a statement that does.
fn destructive_sql(text: &str) -> Option<String> {
    text.split(';').find_map(|statement| {
        let words: Vec<String> = statement.split_whitespace().map(str::to_uppercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let named = |at: usize| statement.split_whitespace().nth(at).unwrap_or("?").to_owned();
        let at = words.iter().position(|word| matches!(*word, "DROP" | "TRUNCATE" | "DELETE"))?;
        match words[at..] {
            ["DROP", what, ..] => {
                let skips = if words.get(at + 2) == Some(&"IF") { 4 } else { 2 };
                Some(format!("drops the {} {}", what.to_lowercase(), named(at + skips)))
            }
            ["TRUNCATE", next, ..] => {
                Some(format!("empties {}", named(at + 1 + usize::from(next == "TABLE"))))
            }
            ["DELETE", "FROM", _, ..] if !words.contains(&"WHERE") => {
                Some(format!("deletes every row of {}", named(at + 2)))
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_delete_are_named() {
        for (text, said) in [
            ("DROP TABLE users", Some("drops the table users")),
            ("drop table if exists users;", Some("drops the table users")),
            ("select 1; truncate table t", Some("empties t")),
            ("DELETE FROM t", Some("deletes every row of t")),
            ("DELETE FROM t WHERE id = 1", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(destructive_sql(text).as_deref(), said, "{text}");
        }
    }
}
