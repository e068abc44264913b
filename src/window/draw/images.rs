//! An image file, or one from the clipboard, that is open in Draw: it lies over the canvas, and is
//! read as writing with one digit or several.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Canvas, Draw};
use crate::ink::{CandidateImage, Framing, InkError, SourceImage, Stage, Steps, Writing};
use crate::records::ModelInfo;
use crate::window::{Ctx, Screen};

/// The name of an image from the clipboard in errors.
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
    /// Those that were undone, for Redo.
    undone: Vec<Arc<OpenImage>>,
    /// Those that Clear closed, for Undo, until the canvas changes.
    cleared: Vec<Arc<OpenImage>>,
    /// The digits in the one that is shown.
    prepared: Option<Arc<PreparedImage>>,
    /// True while one is being looked at on another thread.
    preparing: bool,
}

/// The digits in an image after some steps.
#[derive(Debug)]
pub(super) struct PreparedImage {
    pub image: u64,
    pub steps: Steps,
    /// The part of the image that models get.
    pub framing: Framing,
    /// The whole image after these steps.
    pub stages: Vec<Stage>,
    pub writing: Writing,
    /// Candidates for digits.
    pub candidates: Vec<CandidateImage>,
}

impl Draw {
    /// The image over the canvas, if one is open there.
    pub fn image_shown(&self, ctx: &Ctx) -> Option<&Arc<OpenImage>> {
        let draws = ctx.screen == Screen::Draw && ctx.collection.is_none();
        self.images.open.last().filter(|_| draws)
    }

    /// True if there is an image that Undo brings back or takes away.
    pub fn can_undo_image(&self, ctx: &Ctx) -> bool {
        self.image_shown(ctx).is_some() || !self.images.cleared.is_empty()
    }

    /// True if there is an image that Redo brings back.
    pub fn can_redo_image(&self) -> bool {
        !self.images.undone.is_empty()
    }

    /// The digits in the image that is shown, after the steps that are carried out.
    pub(super) fn prepared_image(&self, ctx: &Ctx) -> Option<&Arc<PreparedImage>> {
        let wanted = (
            self.image_shown(ctx)?.id,
            self.steps_in_use(ctx),
            ctx.framing(),
        );
        self.images
            .prepared
            .as_ref()
            .filter(|prepared| (prepared.image, prepared.steps, prepared.framing) == wanted)
    }

    fn on_image_opened(&mut self, ctx: &mut Ctx, name: String, source: SourceImage) {
        let id = ctx.next_id();
        ctx.show(Screen::Draw);
        self.drawing_shown_mut(ctx).end();
        self.images
            .open
            .push(Arc::new(OpenImage { id, name, source }));
        self.forget_closed_images();
        self.images_changed(ctx);
    }

    /// The canvas changed: images that were closed do not come back.
    pub(super) fn forget_closed_images(&mut self) {
        (self.images.undone, self.images.cleared) = (Vec::new(), Vec::new());
    }

    /// Takes away the image that is shown, or brings those back that were cleared; false if there
    /// are none.
    pub(super) fn undo_image(&mut self, ctx: &mut Ctx) -> bool {
        let canvas = self.canvas(ctx);
        let images = &mut self.images;
        if canvas == Canvas::Image {
            images.undone.extend(images.open.pop());
        } else if !images.cleared.is_empty() && ctx.screen == Screen::Draw {
            images.open = std::mem::take(&mut images.cleared);
        } else {
            return false;
        }
        self.images_changed(ctx);
        true
    }

    /// Opens the image again that was undone last; false if there is none.
    pub(super) fn redo_image(&mut self, ctx: &mut Ctx) -> bool {
        let images = &mut self.images;
        let redone = !images.undone.is_empty() && ctx.screen == Screen::Draw;
        if redone {
            images.open.extend(images.undone.pop());
            self.images_changed(ctx);
        }
        redone
    }

    /// Closes all images.
    pub(super) fn clear_images(&mut self, ctx: &mut Ctx) {
        self.images.undone.clear();
        self.images.cleared = std::mem::take(&mut self.images.open);
        self.images_changed(ctx);
    }

    /// Another image is shown, or none.
    fn images_changed(&mut self, ctx: &mut Ctx) {
        self.forget_reading(ctx, Canvas::Image);
        if self.canvas(ctx) == Canvas::Image {
            self.prepare_image(ctx);
        } else {
            self.images.prepared = None;
            self.drawing_changed(ctx);
        }
    }

    /// Looks at the image that is shown on another thread, with the steps that are carried out.
    pub(super) fn prepare_image(&mut self, ctx: &mut Ctx) {
        let Some(image) = self.image_shown(ctx).cloned() else {
            return;
        };
        // The newest is looked at when that has come to its end.
        if std::mem::replace(&mut self.images.preparing, true) {
            return;
        }
        let (steps, framing) = (self.steps_in_use(ctx), ctx.framing());
        ctx.background.run(
            move || {
                let prepared = image.source.prepare(&steps, framing);
                let candidates = prepared.writing.candidate_images();
                Arc::new(PreparedImage {
                    image: image.id,
                    steps,
                    framing,
                    stages: prepared.stages,
                    writing: prepared.writing,
                    candidates,
                })
            },
            |app, prepared| app.draw.on_image_prepared(&mut app.ctx, prepared),
        );
    }

    fn on_image_prepared(&mut self, ctx: &mut Ctx, prepared: Arc<PreparedImage>) {
        self.images.preparing = false;
        self.images.prepared = Some(prepared);
        if self.canvas(ctx) == Canvas::Image {
            self.recognize_again(ctx);
        }
    }
}

impl Ctx {
    pub(in crate::window) fn open_image(&self, file: PathBuf) {
        let name = file.file_name().unwrap_or(file.as_os_str());
        let name = name.to_string_lossy().into_owned();
        self.open_source(name, move || SourceImage::open(&file));
    }

    /// Opens an image from the clipboard: its size in pixels, and red, green, blue and alpha of
    /// each, colors multiplied by alpha.
    pub(in crate::window) fn paste_image(&self, size: [usize; 2], pixels: Arc<Vec<u8>>) {
        self.open_source("Pasted image".to_owned(), move || {
            let pixels = Arc::unwrap_or_clone(pixels);
            SourceImage::from_premultiplied(size, pixels, Path::new(PASTED))
        });
    }

    fn open_source(
        &self,
        name: String,
        open: impl FnOnce() -> Result<SourceImage, InkError> + Send + 'static,
    ) {
        self.background.run(open, |app, source| {
            if let Some(source) = app.ctx.tell_failure(source) {
                app.draw.on_image_opened(&mut app.ctx, name, source);
            }
        });
    }

    /// The part of an image that the model in use gets.
    fn framing(&self) -> Framing {
        self.model_in_use
            .as_ref()
            .map(ModelInfo::framing)
            .unwrap_or_default()
    }
}
