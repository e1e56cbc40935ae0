//! Values and their files: a name is bound in its scope and written to `bindings/`, and a resumed execution reads
//! what it finds there.

use super::control_flow::{Evaluation, Flow};
use super::effects::Effects;
use super::frame::Site;
use super::scope::{BindingKind, BoundValue};
use super::{Vm, VmFrame};
use crate::envelope::{MASKED, names_secret};
use crate::model::BindingView;
use crate::prose::engine::record::binding::BindingFile;
use crate::prose::engine::record::folder::RunFolder;
use crate::prose::engine::record::journal::BindingRecord;
use crate::prose::engine::record::state;
use crate::prose::engine::value::Value;

/// The number of characters shown of a value beside a question.
pub(super) const PREVIEW_CHARS: usize = 2_000;

/// A value that a statement binds to a name.
pub(super) struct NamedValue<'a> {
    pub(super) name: &'a str,
    pub(super) kind: BindingKind,
    pub(super) value: &'a Evaluation,
    pub(super) site: Site,
}

impl<E: Effects> Vm<E> {
    /// Binds a name in the frame's scope, writes its file and records its line in `state.md`.
    pub(super) async fn bind_name(&self, frame: &VmFrame, named: NamedValue<'_>) -> Flow<()> {
        self.bind_quietly(frame, &named)?;
        self.mark(frame, named.site.line, state::completion(&frame.number, Some(named.name))).await
    }

    /// Binds a name in the frame's scope and writes its file.
    pub(super) fn bind_quietly(&self, frame: &VmFrame, named: &NamedValue<'_>) -> Flow<()> {
        let execution_id = self.file_id(frame, named.name, named.kind)?;
        let bound = self.write(frame, named, execution_id)?;
        frame.scope.bind(named.name, bound);
        self.show_binding(frame, named.name);
        Ok(())
    }

    /// Writes the file of a value, unless an earlier execution has, and returns the resulting binding.
    pub(super) fn write(
        &self,
        frame: &VmFrame,
        named: &NamedValue<'_>,
        execution_id: Option<u32>,
    ) -> Flow<BoundValue> {
        let &NamedValue { name, kind, value, site } = named;
        let stored = if is_secret(name, kind) { Value::text(MASKED) } else { value.value.clone() };
        let text = BindingFile {
            name: name.to_owned(),
            kind: kind.to_string(),
            execution_id,
            source: frame.module.text(site.span).trim_end().to_owned(),
            made: value.made.clone(),
            value: stored.clone(),
        }
        .render();
        let file = RunFolder::binding(name, execution_id);
        let (folder, key) = (&frame.module.folder, frame.at(format!("={name}")).key);
        let path = folder.path().join(&file);
        let held = match self.journal.binding(&key, &path) {
            BindingRecord::New => {
                self.journal.bind(key, path, &text)?;
                folder.write(&file, &text)?;
                None
            }
            BindingRecord::Overwritten => None,
            BindingRecord::Last(written) => match folder.read(&file) {
                Some(there) if !written.is_stale(&there) => BindingFile::parse(&there),
                // The run was interrupted between the row and the file.
                _ => {
                    folder.write(&file, &text)?;
                    None
                }
            },
        };
        let Evaluation { value, made } = match held {
            // The file takes precedence: a person may have corrected it.
            Some(held) if held.value.body() != stored.body() => {
                Evaluation { value: held.value, made: held.made }
            }
            _ => value.clone(),
        };
        Ok(BoundValue { kind, value, made, line: site.line, execution_id, file: Some(file) })
    }

    pub(super) fn file_id(&self, frame: &VmFrame, name: &str, kind: BindingKind) -> Flow<Option<u32>> {
        let mut broken = None;
        let key = frame.at(format!("#{name}")).key;
        let id = frame.scope.file_id(name, kind, || {
            self.journal.number("call", &key).unwrap_or_else(|error| {
                broken = Some(error);
                0
            })
        });
        broken.map_or(Ok(id), |error| Err(error.into()))
    }

    pub(super) fn show_binding(&self, frame: &VmFrame, name: &str) {
        if let (true, Ok(bound)) = (frame.module.is_main, frame.scope.find(name)) {
            self.progress.binding(binding_view(frame, name, &bound));
        }
    }
}

/// Returns whether a value is an input that its name calls a secret: it is used, and neither shown nor stored.
fn is_secret(name: &str, kind: BindingKind) -> bool {
    kind == BindingKind::Input && names_secret(name)
}

/// Returns a value as shown to people and agents.
pub(super) fn binding_view(frame: &VmFrame, name: &str, bound: &BoundValue) -> BindingView {
    let body = if is_secret(name, bound.kind) { MASKED.to_owned() } else { bound.value.body() };
    let chars = body.chars().count();
    let preview: String = body.chars().take(PREVIEW_CHARS).collect();
    let stderr = bound.made.as_ref().map(|made| end_of(&made.stderr));
    BindingView {
        name: name.to_owned(),
        kind: bound.kind.to_string(),
        execution_id: bound.execution_id,
        is_cut: chars > PREVIEW_CHARS,
        preview,
        chars,
        exit_code: bound.made.as_ref().and_then(|made| made.exit_code),
        timed_out: bound.made.as_ref().is_some_and(|made| made.timed_out),
        stderr: stderr.filter(|stderr| !stderr.is_empty()),
        line: Some(bound.line).filter(|line| *line > 0),
        file: bound.file.as_ref().map(|file| frame.module.folder.path().join(file)),
    }
}

fn end_of(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(PREVIEW_CHARS);
    text.chars().skip(skip).collect()
}
