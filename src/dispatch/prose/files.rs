//! Reading of program files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dispatch::context::CommandContext;
use crate::dispatch::host::Host;
use crate::dispatch::response::Failure;
use crate::prose::engine::run::program_file::{read_text, to_text};
use crate::prose::syntax::ast::UsePath;
use crate::prose::{self, Contract, Imports, Profile, SourceText};

/// Reads a program; `-` is standard input. The inner error says why it cannot be read.
///
/// # Errors
/// When there is no working directory, or reading panicked.
pub(super) async fn read(cx: &CommandContext, file: &str) -> Result<Result<SourceText, String>, Failure> {
    let host = cx.host.clone();
    let path = host.cwd()?.join(file);
    let name = file.to_owned();
    let reading = tokio::task::spawn_blocking(move || fetch(&host, &name, path)).await;
    reading.map_err(|error| Failure::internal(&error))
}

/// Reads the files that a program imports, as far as needed to know their inputs and outputs.
///
/// # Errors
/// When there is no working directory, or reading panicked.
pub(super) async fn imports(cx: &CommandContext, source: &SourceText) -> Result<Imports, Failure> {
    let folder = Path::new(source.name()).parent().unwrap_or(Path::new("")).to_owned();
    let mut imports = Imports::new();
    for used in prose::parse(source, Profile::Compat).program.uses {
        let UsePath::File(path) = &used.from else { continue };
        let file = folder.join(path).display().to_string();
        let contract = read(cx, &file).await?.map(|source| {
            let program = prose::parse(&source, Profile::Compat).program;
            Contract::of(&program)
        });
        imports.insert(used.path.value, contract);
    }
    Ok(imports)
}

fn fetch(host: &Arc<dyn Host>, name: &str, path: PathBuf) -> Result<SourceText, String> {
    let text = match name {
        "-" => {
            let limit = SourceText::LIMIT_BYTES as u64;
            to_text(host.standard_input(limit).map_err(|failure| failure.text())?)?
        }
        _ => read_text(&path)?,
    };
    SourceText::new(name, &text).map_err(|error| error.to_string())
}
