//! Opening files from outside the window: a model is used for drawing, models of other programs are
//! imported, data is chosen to train on, ink and images come onto the canvas.

use std::path::{Path, PathBuf};

use crate::ink::{Ink, InkEntry, InkError, read_ink_file};
use crate::problem::Message;
use crate::records::ModelRef;
use crate::window::models::is_named_like_weights;
use crate::window::{Action, App, Ctx, Draw, DrawAction, Dropped, Severity};

impl App {
    /// Opens models and drawings; the last of each kind is shown.
    pub fn open(&mut self, files: Vec<PathBuf>) {
        // Whoever opens a file knows what to do next; the wizard comes back at the next launch.
        self.ctx.wizard = None;
        self.shell.raise_window();
        for file in files {
            if let Some(model) = model(&file) {
                self.apply(DrawAction::DrawWith(ModelRef::File(model)));
            } else if is_named_like_weights(&file) {
                self.ctx.import(file);
            } else if Dropped::of(&file) == Dropped::Data {
                self.apply(Action::Drop(vec![file]));
            } else {
                self.ctx.open_on_canvas(file);
            }
        }
    }
}

impl Ctx {
    /// Opens an image or an ink file, by its name.
    pub fn open_on_canvas(&self, file: PathBuf) {
        if Dropped::of(&file) == Dropped::Image {
            self.open_image(file);
        } else {
            self.draw_file(file);
        }
    }

    /// Reads an ink file and puts its first drawing on the canvas.
    pub fn draw_file(&self, file: PathBuf) {
        self.background.run(
            move || (first_drawing(&file), file),
            |app, (drawing, file)| {
                if let Some((ink, pressures, only)) = app.ctx.tell_failure(drawing) {
                    app.draw.on_ink(&mut app.ctx, &file, &ink, &pressures, only);
                }
            },
        );
    }
}

impl Draw {
    pub fn on_ink(
        &mut self,
        ctx: &mut Ctx,
        file: &Path,
        ink: &Ink,
        pressures: &[Vec<f32>],
        only: bool,
    ) {
        self.put_ink(ctx, ink, pressures);
        if !only {
            ctx.show_notice(Severity::Info, Message::first_of_several(file));
        }
    }
}

/// The model file that is meant, if one is.
fn model(file: &Path) -> Option<PathBuf> {
    let within = file.join("model.safetensors");
    let named = file
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("safetensors"));
    if named {
        Some(file.to_owned())
    } else {
        within.is_file().then_some(within)
    }
}

/// The first drawing of an ink file, how hard the pen pressed, and whether it is the only one.
fn first_drawing(file: &Path) -> Result<(Ink, Vec<Vec<f32>>, bool), InkError> {
    let mut drawings = read_ink_file(file)?;
    let first = drawings.next().transpose()?;
    let nothing = || InkError::Malformed {
        path: file.to_owned(),
        reason: "it contains no drawing".to_owned(),
    };
    let InkEntry { ink, pressures, .. } = first
        .filter(|entry| !entry.ink.is_empty())
        .ok_or_else(nothing)?;
    Ok((ink, pressures, drawings.next().is_none()))
}
