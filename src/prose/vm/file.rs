//! Values and their files: a name is bound in its scope and written to `bindings/`, and a resumed walk
//! takes from there what it finds.

use std::path::{Path, PathBuf};

use super::effects::Effects;
use super::halt::{Halt, Yield};
use super::scope::{Bound, Kind};
use super::{Frame, Vm};
use crate::prose::run::binding::BindingFile;
use crate::prose::run::folder::Folder;
use crate::prose::run::ledger::Row;
use crate::prose::run::state;
use crate::prose::source::Span;
use crate::runtime::BindingView;

/// Where a statement stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) span: Span,
    pub(super) line: u32,
}

/// Characters of a value that are shown beside a question.
pub(super) const PREVIEW_CHARS: usize = 2_000;

impl<E: Effects> Vm<E> {
    /// Binds a name in the frame's scope, with its file and its mark.
    pub(super) async fn bound(
        &self,
        frame: &Frame,
        name: &str,
        kind: Kind,
        value: &Yield,
        site: Site,
    ) -> Result<(), Halt> {
        self.bind_quietly(frame, name, kind, value, site)?;
        self.mark(frame, site.line, state::done(&frame.number, Some(name))).await
    }

    /// Binds a name in the frame's scope, with its file.
    pub(super) fn bind_quietly(
        &self,
        frame: &Frame,
        name: &str,
        kind: Kind,
        value: &Yield,
        site: Site,
    ) -> Result<(), Halt> {
        let file = self.write(frame, name, kind, value, site, None)?;
        let execution_id = self.file_id(frame, name)?;
        let Yield { value, made } = self.reloaded(frame, &file, value.clone());
        let bound = Bound { kind, value, made, line: site.line, execution_id, file: Some(file) };
        frame.scope.bind(name, bound);
        self.show_binding(frame, name);
        Ok(())
    }

    /// Writes the file of a value and returns its path in the folder. `id` is the number a file of that
    /// name has already.
    pub(super) fn write(
        &self,
        frame: &Frame,
        name: &str,
        kind: Kind,
        value: &Yield,
        site: Site,
        id: Option<Option<u32>>,
    ) -> Result<PathBuf, Halt> {
        let execution_id = match id {
            Some(id) => id,
            None => self.file_id(frame, name)?,
        };
        let file = Folder::binding(name, execution_id);
        let key = frame.at(format!("={name}")).key;
        let path = frame.unit.folder.path().join(&file);
        let (was_bound, _) = self.ledger.was_bound(&key, &path);
        if !was_bound {
            let text = BindingFile {
                name: name.to_owned(),
                kind: kind.as_str().to_owned(),
                execution_id,
                source: frame.unit.source.slice(site.span).trim_end().to_owned(),
                made: value.made.clone(),
                value: value.value.clone(),
            };
            frame.unit.folder.write(&file, &text.render())?;
            self.ledger.write(&Row::Bound { key, file: path })?;
        }
        Ok(file)
    }

    /// Returns the value that an earlier walk has left in a file, when it was the last to write it: a person
    /// may have put it right meanwhile. Else the value at hand.
    pub(super) fn reloaded(&self, frame: &Frame, file: &Path, value: Yield) -> Yield {
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.split("__").next().unwrap_or_default();
        let key = frame.at(format!("={name}")).key;
        let path = frame.unit.folder.path().join(file);
        if self.ledger.was_bound(&key, &path) != (true, true) {
            return value;
        }
        let read = frame.unit.folder.read(file).and_then(|text| BindingFile::parse(&text));
        match read {
            Some(BindingFile { value: kept, made, .. }) if kept.body() != value.value.body() => {
                Yield { value: kept, made }
            }
            _ => value,
        }
    }

    fn file_id(&self, frame: &Frame, name: &str) -> Result<Option<u32>, Halt> {
        let mut broken = None;
        let key = frame.at(format!("#{name}")).key;
        let id = frame.scope.file_id(name, || {
            self.ledger.number("call", &key).unwrap_or_else(|error| {
                broken = Some(error);
                0
            })
        });
        broken.map_or(Ok(id), |error| Err(error.into()))
    }

    pub(super) fn show_binding(&self, frame: &Frame, name: &str) {
        if let (true, Ok(bound)) = (frame.unit.is_main, frame.scope.find(name)) {
            self.progress.binding(binding_view(frame, name, &bound));
        }
    }
}

/// Returns a value as people and agents see it.
pub(super) fn binding_view(frame: &Frame, name: &str, bound: &Bound) -> BindingView {
    let body = bound.value.body();
    let chars = body.chars().count();
    let preview: String = body.chars().take(PREVIEW_CHARS).collect();
    let stderr = bound.made.as_ref().map(|made| end_of(&made.stderr));
    BindingView {
        name: name.to_owned(),
        kind: bound.kind.as_str().to_owned(),
        execution_id: bound.execution_id,
        is_cut: chars > PREVIEW_CHARS,
        preview,
        chars,
        exit_code: bound.made.as_ref().and_then(|made| made.exit_code),
        timed_out: bound.made.as_ref().is_some_and(|made| made.timed_out),
        stderr: stderr.filter(|stderr| !stderr.is_empty()),
        line: Some(bound.line),
        file: bound.file.as_ref().map(|file| frame.unit.folder.path().join(file)),
    }
}

fn end_of(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(PREVIEW_CHARS);
    text.chars().skip(skip).collect()
}
