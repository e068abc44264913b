//! Importing ink files into the drawings that are kept, and exporting those.

use std::path::PathBuf;

use crate::data::my_digits::{Edit, KeptDrawing, labelled_drawings};
use crate::data::{DataSet, MyDigits, export_drawings, export_set};
use crate::problem::{Message, Problem};
use crate::progress::Unwatched;
use crate::run_config::SetFormat;
use crate::window::Ctx;
use crate::window::desktop::Purpose;
use crate::window::my_digits::MyDigitsView;
use crate::window::notice::Severity;

impl Ctx {
    pub(in crate::window) fn choose_ink_to_import(&self) {
        let endings = ["jsonl", "json", "ndjson", "ink", "gz"];
        self.ask_for_file(
            "Import drawings",
            "Ink files with labels",
            &endings,
            Purpose::ImportInk,
        );
    }

    pub(in crate::window) fn import_ink(&self, file: PathBuf) {
        self.background.run(
            move || labelled_drawings(&file),
            |app, drawings| {
                if let Some(drawings) = app.ctx.tell_failure(drawings) {
                    app.my_digits.add_imported(&mut app.ctx, drawings);
                }
            },
        );
    }

    pub(in crate::window) fn choose_set_file(&self, format: SetFormat) {
        let name = if format == SetFormat::Ink {
            "my-digits.jsonl"
        } else {
            "my-digits"
        };
        self.ask_for_new_file("Export my digits", name, Purpose::ExportMyDigits(format));
    }

    /// Writes the drawings there. A file was chosen to be replaced; of folders, only empty ones
    /// are.
    pub(in crate::window) fn export_my_digits(&self, to: PathBuf, format: SetFormat) {
        let data = self.deps.paths.data.clone();
        let write = move || -> Result<PathBuf, Problem> {
            let file = MyDigits::in_folders(&data);
            let sources = [file.path()];
            if format == SetFormat::Ink {
                export_drawings(&file.read()?.drawings, &to, true, &sources)?;
            } else {
                let set = DataSet::of_digits(file.split()?);
                export_set(&set, format, &to, false, &sources, &mut Unwatched)?;
            }
            Ok(to)
        };
        self.background
            .run(write, |app, written| app.ctx.tell_written(written));
    }
}

impl MyDigitsView {
    /// Adds drawings, but none twice.
    pub(in crate::window) fn add_imported(
        &mut self,
        ctx: &mut Ctx,
        mut drawings: Vec<KeptDrawing>,
    ) {
        let found = drawings.len();
        drawings.retain(|drawing| {
            self.drawings()
                .iter()
                .all(|known| known.kept.line() != drawing.line())
        });
        ctx.show_notice(Severity::Info, Message::ink_imported(drawings.len(), found));
        self.change_my_digits(
            ctx,
            Edit {
                add: drawings,
                ..Edit::default()
            },
        );
    }
}
