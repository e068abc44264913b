//! Divides writing with several digits into candidates for single digits, from left to right. Which
//! of them are digits, a classifier has to say: see the module `infer`.
//!
//! The standard way to read a string of digits (over-segmentation; Casey & Lecolinet 1996, "A
//! survey of methods and strategies in character segmentation"): [`pieces`] divides the
//! writing into pieces, rather too many than too few, [`candidates`] puts consecutive pieces
//! together to what may be a digit, and scores how plausible that is by its shape alone.

mod candidates;
mod pieces;

use std::ops::Range;

use super::Ink;
use super::image::{GrayImage, Image};
use super::image_file::reframe::reframe;
use super::rasterize::{Placement, rasterize_with};
use super::steps::{Stage, StageImage, StageKind, StageObserver, Step, Steps};

pub use self::candidates::{Candidate, CandidateImage};

/// The height of writing is at least this, relative to the width of its widest piece: that of a
/// dash is not its own.
const FLATTEST: f32 = 0.2;

/// Writing, divided into pieces each of which belongs to one digit. Pieces are numbered from left
/// to right.
#[derive(Clone, Debug)]
pub struct Writing {
    pieces: Vec<Piece>,
    content: Content,
    /// The height of the writing's highest piece, in the unit of the bounds.
    height: f32,
    steps: Steps,
}

#[derive(Clone, Debug)]
enum Content {
    Ink(Ink),
    /// The ink of an image file, from 0 to 1 per pixel.
    Pixels(GrayImage),
    /// An image in MNIST's frame, which holds one digit.
    Framed(Box<Image>),
}

/// A stroke or a part of one, or connected pixels or a part of them.
#[derive(Clone, Debug, Default)]
struct Piece {
    bounds: Bounds,
    /// The strokes, if the writing is a drawing.
    strokes: Vec<super::Stroke>,
    /// The indices of the pixels, if it is an image.
    pixels: Vec<usize>,
    /// The stroke that it was cut from, by its number, and which part of that it is.
    cut_from: Option<(usize, usize)>,
}

impl Piece {
    /// True when both are parts of one stroke or of connected pixels.
    fn is_cut_from_same(&self, other: &Self) -> bool {
        self.cut_from
            .is_some_and(|(whole, _)| other.cut_from.is_some_and(|(other, _)| whole == other))
    }

    /// True when a stroke of this one crosses or touches a stroke of the other. Parts of an image
    /// never do: they would be one.
    fn crosses(&self, other: &Self) -> bool {
        let apart = |axis: usize| {
            self.bounds.low[axis].max(other.bounds.low[axis])
                > self.bounds.high[axis].min(other.bounds.high[axis])
        };
        !apart(0)
            && !apart(1)
            && self
                .strokes
                .iter()
                .any(|a| other.strokes.iter().any(|b| pieces::cross(a, b)))
    }
}

impl Writing {
    /// The pieces of a drawing. Points that are not finite are left out.
    pub fn of_ink(ink: &Ink) -> Self {
        Self::of_ink_with(ink, &Steps::ALL)
    }

    /// The same, if images are made of it with these steps.
    pub fn of_ink_with(ink: &Ink, steps: &Steps) -> Self {
        let pieces = pieces::pieces_of_ink(ink);
        Self::new(pieces, Content::Ink(ink.clone()), *steps)
    }

    /// The pieces of the ink that was found in an image file.
    pub(super) fn of_pixels(ink: GrayImage, steps: Steps) -> Self {
        let pieces = pieces::pieces_of_pixels(&ink);
        Self::new(pieces, Content::Pixels(ink), steps)
    }

    /// An image that is in MNIST's frame already.
    pub fn framed(image: Image) -> Self {
        let bounds = Bounds {
            low: [0.0; 2],
            high: [super::SIDE as f32; 2],
        };
        Self::new(
            vec![Piece {
                bounds,
                ..Piece::default()
            }],
            Content::Framed(Box::new(image)),
            Steps::ALL,
        )
    }

    /// An image of this width and height, all of which a model is shown as `image`.
    pub(super) fn whole(image: Image, size: [f32; 2]) -> Self {
        let bounds = Bounds {
            low: [0.0; 2],
            high: size,
        };
        Self::new(
            vec![Piece {
                bounds,
                ..Piece::default()
            }],
            Content::Framed(Box::new(image)),
            Steps::ALL,
        )
    }

    fn new(mut pieces: Vec<Piece>, content: Content, steps: Steps) -> Self {
        pieces.sort_by(|a, b| a.bounds.middle(0).total_cmp(&b.bounds.middle(0)));
        let largest = |axis: usize| {
            pieces
                .iter()
                .map(|piece| piece.bounds.size(axis))
                .fold(0.0, f32::max)
        };
        let height = largest(1).max(FLATTEST * largest(0));
        Self {
            pieces,
            content,
            height,
            steps,
        }
    }

    /// True when nothing is written.
    pub fn is_blank(&self) -> bool {
        match &self.content {
            Content::Ink(_) | Content::Pixels(_) => self.pieces.is_empty(),
            Content::Framed(image) => image.is_blank(),
        }
    }

    pub const fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    /// The bounds of all of it, in the unit of the candidates' bounds.
    pub fn bounds(&self) -> Bounds {
        self.pieces
            .iter()
            .fold(Bounds::default(), |bounds, piece| {
                bounds.union(piece.bounds)
            })
            .scaled(self.unit())
    }

    /// The unit of the pieces' bounds, relative to the candidates' unit.
    const fn unit(&self) -> f32 {
        match &self.content {
            Content::Pixels(ink) => ink.scale,
            Content::Ink(_) | Content::Framed(_) => 1.0,
        }
    }

    /// The image that models take as input of these pieces, as if nothing else were written.
    pub fn image(&self, pieces: Range<usize>) -> Image {
        self.observed(pieces, &mut ()).0
    }

    /// The results of the steps from these pieces to their image, which is the last.
    pub fn stages(&self, pieces: Range<usize>) -> Vec<Stage> {
        let mut stages = Vec::new();
        self.observed(pieces, &mut stages);
        stages
    }

    /// The strokes of these pieces, and the steps that make their image; `None` if the writing is
    /// an image.
    pub fn drawing(&self, pieces: Range<usize>) -> Option<(Ink, Steps)> {
        let Content::Ink(ink) = &self.content else {
            return None;
        };
        if pieces.len() == self.pieces.len() {
            return Some((ink.clone(), self.steps));
        }
        let strokes = pieces::joined(self.pieces.get(pieces.clone()).unwrap_or_default());
        let alone = Ink {
            strokes,
            pen: ink.pen,
        };
        Some((alone, self.steps_for(pieces)))
    }

    /// The strokes of all other pieces.
    pub fn strokes_without(&self, pieces: Range<usize>) -> Vec<super::Stroke> {
        let [before, after] = [0..pieces.start, pieces.end..self.pieces.len()];
        let strokes = |part| pieces::joined(self.pieces.get(part).unwrap_or_default());
        [strokes(before), strokes(after)].concat()
    }

    /// The steps for these pieces, of which there are others beside them.
    fn steps_for(&self, pieces: Range<usize>) -> Steps {
        let parts = self.pieces.get(pieces).unwrap_or_default().iter();
        let bounds = parts.fold(Bounds::default(), |bounds, piece| {
            bounds.union(piece.bounds)
        });
        self.steps.around(bounds.middle(0))
    }

    /// The image of these pieces, and of an image file if they are in it.
    fn observed(
        &self,
        pieces: Range<usize>,
        observer: &mut impl StageObserver,
    ) -> (Image, Option<Placement>) {
        let all = pieces.len() == self.pieces.len();
        match &self.content {
            Content::Framed(image) => {
                observer.stage(StageKind::Step(Step::Centering), || {
                    StageImage::Model(image.clone())
                });
                (
                    Image::clone(image),
                    Some(Placement::of_whole(self.bounds())),
                )
            }
            Content::Ink(_) => {
                let image = self
                    .drawing(pieces)
                    .map(|(ink, steps)| rasterize_with(&ink, &steps, observer));
                (image.unwrap_or(Image::BLANK), None)
            }
            Content::Pixels(ink) => {
                let framed = if all {
                    reframe(ink, &self.steps, observer)
                } else {
                    let parts = self.pieces.get(pieces.clone()).unwrap_or_default();
                    let alone = pieces::only(ink, parts.iter().flat_map(|piece| &piece.pixels));
                    reframe(&alone, &self.steps_for(pieces), observer)
                };
                framed.map_or((Image::BLANK, None), |(image, placement)| {
                    (image, Some(placement.in_unit(ink.scale)))
                })
            }
        }
    }
}

/// A rectangle with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    pub low: [f32; 2],
    pub high: [f32; 2],
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            low: [f32::INFINITY; 2],
            high: [f32::NEG_INFINITY; 2],
        }
    }
}

impl Bounds {
    pub fn of(points: impl IntoIterator<Item = [f32; 2]>) -> Self {
        points.into_iter().fold(Self::default(), |bounds, point| {
            bounds.union(Self {
                low: point,
                high: point,
            })
        })
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            low: [0, 1].map(|axis| self.low[axis].min(other.low[axis])),
            high: [0, 1].map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// The same in another unit, this many of which are one of this.
    #[must_use]
    pub fn scaled(self, factor: f32) -> Self {
        Self {
            low: self.low.map(|value| value * factor),
            high: self.high.map(|value| value * factor),
        }
    }

    /// Its size on an axis: 0 is the width, 1 the height.
    pub fn size(&self, axis: usize) -> f32 {
        (self.high[axis] - self.low[axis]).max(0.0)
    }

    pub fn overlap(&self, other: &Self, axis: usize) -> f32 {
        (self.high[axis].min(other.high[axis]) - self.low[axis].max(other.low[axis])).max(0.0)
    }

    pub fn middle(&self, axis: usize) -> f32 {
        f32::midpoint(self.low[axis], self.high[axis])
    }

    /// Its left and upper edge, its width and its height.
    pub fn rectangle(&self) -> [f32; 4] {
        [self.low[0], self.low[1], self.size(0), self.size(1)]
    }
}
