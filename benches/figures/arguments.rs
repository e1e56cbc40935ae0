//! The command line.

use std::path::PathBuf;

/// The command line.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// Parts by name; an empty list means all.
    parts: Vec<String>,
    pub(crate) runs: usize,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) list: bool,
}

impl Arguments {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong: an unknown part or option, or a value that is missing or not a number.
    pub(crate) fn parse(mut all: impl Iterator<Item = String>, known: &[&str]) -> Result<Self, String> {
        let mut read = Self { parts: Vec::new(), runs: 1, json: None, markdown: None, list: false };
        while let Some(argument) = all.next() {
            let mut value = || all.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                // Added by cargo.
                "--bench" => {}
                "--list" => read.list = true,
                "--json" => read.json = Some(value()?.into()),
                "--markdown" => read.markdown = Some(value()?.into()),
                "--runs" => {
                    let runs = value()?.parse().ok().filter(|runs| (1..=20).contains(runs));
                    read.runs = runs.ok_or("--runs takes a number from 1 to 20")?;
                }
                name if known.contains(&name) => read.parts.push(argument),
                _ => return Err(format!("no part is called {argument}; there are {}", known.join(", "))),
            }
        }
        Ok(read)
    }

    /// Tells whether a part is to run.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|asked| asked == part)
    }
}
