//! An image file, or one from the clipboard, that is open in Draw: it lies over the canvas, and is
//! read as writing with one digit or several.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ink::{CandidateImage, Framing, SourceImage, Stage, Steps, Writing};
use crate::protocol::Command;
use crate::records::ModelInfo;
use crate::window::action::Action;
use crate::window::background::BackgroundResult;
use crate::window::{App, Screen};

/// What errors call an image from the clipboard.
const PASTED: &str = "the image on the clipboard";

#[derive(Debug)]
pub struct OpenImage {
    /// Distinguishes it from any other image.
    pub id: u64,
    /// The file's name, or what it is called otherwise.
    pub name: String,
    pub source: SourceImage,
}

/// The images that lie over the canvas.
#[derive(Debug, Default)]
pub struct OpenImages {
    open: Vec<Arc<OpenImage>>,
    /// Those that were taken back by Undo, for Redo.
    undone: Vec<Arc<OpenImage>>,
    /// Those that Clear closed, for Undo, until the canvas changes.
    cleared: Vec<Arc<OpenImage>>,
    /// What was found in the one that is shown.
    reading: Option<Arc<ImageReading>>,
    /// True while one is being looked at on another thread.
    preparing: bool,
}

/// What was found in an image with some steps.
#[derive(Debug)]
pub struct ImageReading {
    pub image: u64,
    pub steps: Steps,
    /// What of the image models are shown.
    pub framing: Framing,
    /// What they gave for the whole image.
    pub stages: Vec<Stage>,
    pub writing: Writing,
    /// What may be a digit.
    pub candidates: Vec<CandidateImage>,
}

impl App {
    /// The image over the canvas, if one is open there.
    pub fn image_shown(&self) -> Option<&Arc<OpenImage>> {
        let draws = self.ctx.screen == Screen::Draw && self.ctx.collection.is_none();
        self.draw.images.open.last().filter(|_| draws)
    }

    /// True if there is an image that Undo brings back or takes away.
    pub fn can_undo_image(&self) -> bool {
        self.image_shown().is_some() || !self.draw.images.cleared.is_empty()
    }

    /// True if there is an image that Redo brings back.
    pub fn can_redo_image(&self) -> bool {
        !self.draw.images.undone.is_empty()
    }

    /// What was found in the image that is shown, with the steps that are carried out.
    pub(in crate::window) fn image_reading(&self) -> Option<&Arc<ImageReading>> {
        let wanted = (self.image_shown()?.id, self.steps_in_use(), self.framing());
        self.draw
            .images
            .reading
            .as_ref()
            .filter(|reading| (reading.image, reading.steps, reading.framing) == wanted)
    }

    pub(in crate::window) fn open_image(&self, file: PathBuf) {
        self.ctx.background.run(move || {
            let name = file
                .file_name()
                .unwrap_or(file.as_os_str())
                .to_string_lossy()
                .into_owned();
            Some(opened(name, SourceImage::open(&file)))
        });
    }

    /// Opens an image from the clipboard: its size in pixels, and red, green, blue and alpha of
    /// each, colours multiplied by alpha.
    pub(in crate::window) fn paste_image(&self, size: [usize; 2], pixels: Arc<Vec<u8>>) {
        self.ctx.background.run(move || {
            let pixels = Arc::unwrap_or_clone(pixels);
            Some(opened(
                "Pasted image".to_owned(),
                SourceImage::from_premultiplied(size, pixels, Path::new(PASTED)),
            ))
        });
    }

    pub(in crate::window) fn on_image_opened(&mut self, name: String, source: SourceImage) {
        let id = self.ctx.next_id();
        self.ctx.show(Screen::Draw);
        self.drawing_shown_mut().end();
        self.draw
            .images
            .open
            .push(Arc::new(OpenImage { id, name, source }));
        (self.draw.images.undone, self.draw.images.cleared) = (Vec::new(), Vec::new());
        self.images_changed();
    }

    /// What a person does to the canvas is done to the image that lies over it; true if that was
    /// all.
    pub(in crate::window) fn apply_to_image(&mut self, action: &Action) -> bool {
        let shown = self.image_shown().is_some();
        match action {
            Action::Undo if shown => {
                self.draw.images.undone.extend(self.draw.images.open.pop());
                self.images_changed();
            }
            Action::Undo
                if !self.draw.images.cleared.is_empty() && self.ctx.screen == Screen::Draw =>
            {
                self.draw.images.open = std::mem::take(&mut self.draw.images.cleared);
                self.images_changed();
            }
            Action::Redo
                if !self.draw.images.undone.is_empty() && self.ctx.screen == Screen::Draw =>
            {
                self.draw.images.open.extend(self.draw.images.undone.pop());
                self.images_changed();
            }
            Action::ClearDrawing if shown => {
                self.draw.images.undone.clear();
                self.draw.images.cleared = std::mem::take(&mut self.draw.images.open);
                self.images_changed();
            }
            // There is nothing to draw on.
            Action::PenDown(_)
            | Action::EraserDown(_)
            | Action::PenMove(_)
            | Action::SaveDrawing
                if shown => {}
            Action::PenDown(_) | Action::EraserDown(_) => {
                (self.draw.images.undone, self.draw.images.cleared) = (Vec::new(), Vec::new());
                return false;
            }
            _ => return false,
        }
        true
    }

    /// Another image is shown, or none.
    fn images_changed(&mut self) {
        self.draw.number.forget();
        if self.image_shown().is_some() {
            self.prepare_image();
        } else {
            self.draw.images.reading = None;
            self.drawing_changed();
        }
    }

    /// Looks at the image that is shown on another thread, with the steps that are carried out.
    pub(in crate::window) fn prepare_image(&mut self) {
        let Some(image) = self.image_shown().cloned() else {
            return;
        };
        // The newest is looked at when that has come to its end.
        if std::mem::replace(&mut self.draw.images.preparing, true) {
            return;
        }
        let (steps, framing) = (self.steps_in_use(), self.framing());
        self.ctx.background.run(move || {
            let prepared = image.source.prepare(&steps, framing);
            let candidates = prepared.writing.candidate_images();
            let reading = ImageReading {
                image: image.id,
                steps,
                framing,
                stages: prepared.stages,
                writing: prepared.writing,
                candidates,
            };
            Some(BackgroundResult::ImagePrepared(Arc::new(reading)))
        });
    }

    pub(in crate::window) fn on_image_prepared(&mut self, reading: Arc<ImageReading>) {
        self.draw.images.preparing = false;
        self.draw.images.reading = Some(reading);
        if self.image_reading().is_some() {
            self.recognize_again();
        } else {
            self.prepare_image();
        }
    }

    /// What of an image the model in use is shown.
    fn framing(&self) -> Framing {
        self.ctx
            .model_in_use
            .as_ref()
            .map(ModelInfo::framing)
            .unwrap_or_default()
    }

    /// Sends what may be a digit in the image to the engine.
    pub(in crate::window) fn read_image(&mut self, request: u64) {
        let candidates = self
            .image_reading()
            .map(|reading| reading.candidates.clone())
            .unwrap_or_default();
        self.ctx.send(Command::ReadCandidates {
            request,
            candidates,
        });
    }
}

fn opened(name: String, source: Result<SourceImage, crate::ink::InkError>) -> BackgroundResult {
    match source {
        Ok(source) => BackgroundResult::ImageOpened {
            name,
            source: Box::new(source),
        },
        Err(error) => BackgroundResult::Failed(error.into()),
    }
}
