//! The steps from strokes, or from the pixels of an image file, to the image that models take as
//! input; and what each of them gives, for whoever wants to see it.

use serde::{Deserialize, Serialize};

use super::image::{GrayImage, Image, SIDE};
use super::{Ink, Stroke};

/// A step of preprocessing that can be left out, to see what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Image files: the lighting of the paper is evened out.
    Lighting,
    /// Image files: ink is separated from the paper by a threshold.
    Threshold,
    /// Image files: small connected components are removed, and what runs off the image.
    Specks,
    /// The writing is scaled to MNIST's box.
    Scaling,
    /// Strokes are redrawn with the usual pen.
    Pen,
    /// The center of mass comes to the center of the image.
    Centering,
}

impl Step {
    const ALL: [Self; 6] = [
        Self::Lighting,
        Self::Threshold,
        Self::Specks,
        Self::Scaling,
        Self::Pen,
        Self::Centering,
    ];
}

/// The steps that are carried out: all of them, as everywhere but when a person looks at what they
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// By their place in [`Step::ALL`].
    without: [bool; Step::ALL.len()],
    /// Width and height of the page, in the unit of the ink. Without [`Step::Scaling`], all of it
    /// is scaled down.
    page: [f32; 2],
    /// The middle of one digit of several: then a square around it is scaled down, as high as the
    /// page.
    middle: Option<f32>,
}

impl Steps {
    pub const ALL: Self = Self {
        without: [false; Step::ALL.len()],
        page: [SIDE as f32; 2],
        middle: None,
    };

    #[must_use]
    pub const fn without(mut self, step: Step) -> Self {
        self.without[step as usize] = true;
        self
    }

    #[must_use]
    pub const fn with(mut self, step: Step) -> Self {
        self.without[step as usize] = false;
        self
    }

    /// For ink on a page of this width and height, which is scaled down as a whole if
    /// [`Step::Scaling`] is left out.
    #[must_use]
    pub const fn on_page(mut self, size: [f32; 2]) -> Self {
        self.page = size;
        self
    }

    /// For one digit of several on the page, with this middle.
    #[must_use]
    pub(super) const fn around(mut self, middle: f32) -> Self {
        self.middle = Some(middle);
        self
    }

    /// True if this step is carried out.
    pub const fn has(&self, step: Step) -> bool {
        !self.without[step as usize]
    }

    pub fn left_out(&self) -> impl Iterator<Item = Step> {
        Step::ALL.into_iter().filter(|step| !self.has(*step))
    }

    /// The middle and the side of the square that is scaled down without [`Step::Scaling`].
    pub(super) fn square(&self) -> ([f64; 2], f64) {
        let [width, height] = self.page.map(f64::from);
        match self.middle {
            Some(middle) => ([f64::from(middle), height / 2.0], height),
            None => ([width / 2.0, height / 2.0], width.max(height)),
        }
    }

    /// The ink on its page, with the pen that it was drawn with.
    pub(super) fn page_of(&self, ink: &Ink) -> StageImage {
        StageImage::Strokes {
            strokes: ink.strokes.clone(),
            pen: ink.pen.unwrap_or_default(),
            size: self.page,
        }
    }
}

/// Stages that are as large as an image file are reduced to at most this many pixels a side.
pub(super) const STAGE_SIDE: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StageKind {
    Drawn,
    Gray,
    /// The result of this step, or its input if it is left out.
    Step(Step),
}

/// One of the images on the way from what was drawn to what a model takes as input.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub kind: StageKind,
    pub image: StageImage,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StageImage {
    /// Strokes drawn with a pen of this diameter on a page of this size, all in the same unit.
    Strokes {
        strokes: Vec<Stroke>,
        pen: f32,
        size: [f32; 2],
    },
    /// Brightness, from 0 (black) to 1 (white).
    Light(GrayImage),
    /// Ink, from 0 to 1.
    Ink(GrayImage),
    /// An image of the size that models take as input.
    Model(Box<Image>),
}

pub(super) trait StageObserver {
    /// This is what a stage shows; `image` is made if somebody looks.
    fn stage(&mut self, kind: StageKind, image: impl FnOnce() -> StageImage);
}

impl StageObserver for () {
    fn stage(&mut self, _: StageKind, _: impl FnOnce() -> StageImage) {}
}

impl StageObserver for Vec<Stage> {
    fn stage(&mut self, kind: StageKind, image: impl FnOnce() -> StageImage) {
        self.push(Stage {
            kind,
            image: image(),
        });
    }
}
