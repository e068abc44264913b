//! Which pieces may be a digit together, and how plausible that is by their shape alone.
//!
//! The numbers here were chosen by strings of real people's digits;
//! [experiments](../../../docs/experiments.md) has what they give.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Bounds, Writing};
use crate::ink::{Image, Placement};

/// The most pieces of one digit, unless it is all that is written.
const MAX_PIECES: usize = 8;
/// Pieces with a gap between them that is wider than this belong to different digits. Lengths are
/// relative to the height of the writing.
const WIDE_GAP: f32 = 0.6;
/// Several pieces that are wider together than this are not a digit, unless they are all that is
/// written.
const MAX_WIDTH: f32 = 1.8;

// Penalties, as the negative logarithms of probabilities. `benches/strings.py` measures how well
// they are chosen.

/// A gap between the pieces of a digit, and each height of the writing that it is wide.
const GAP: [f32; 2] = [0.5, 4.6];
/// The width from which on there is a penalty, and the penalty for each height of the writing above
/// it: beside other digits and alone.
const WIDE: [f32; 2] = [0.8, 8.0];
const WIDE_ALONE: [f32; 2] = [0.9, 5.1];
/// The height below which there is a penalty beside other digits, and the penalty for each height
/// of the writing.
const LOW: [f32; 2] = [0.55, 30.0];
/// Each height of the writing by which two digits overlap.
const OVERLAP: f32 = 7.6;
const CROSSING: f32 = 0.3;
/// A stroke or connected pixels are cut, and how much more for each height of the writing that they
/// are narrower than the third number.
const CUT: [f32; 3] = [1.5, 4.8, 2.14];

/// Consecutive pieces that may be a digit together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    pub pieces: Range<usize>,
    /// Their bounds, in the unit of the drawing or in pixels of the image file.
    pub bounds: Bounds,
    /// The log-probability, up to a constant, that these pieces and no others are one digit, by
    /// their sizes and positions.
    pub plausibility: f32,
}

/// A candidate with the image that models take as input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateImage {
    pub candidate: Candidate,
    pub image: Image,
    /// Where its ink is in the image, if it comes from an image file.
    pub placement: Option<Placement>,
}

impl Writing {
    /// All candidates with their images; nothing if nothing is written.
    pub fn candidate_images(&self) -> Vec<CandidateImage> {
        let candidates = if self.is_blank() {
            Vec::new()
        } else {
            self.candidates()
        };
        candidates
            .into_iter()
            .map(|candidate| {
                let (image, placement) = self.observed(candidate.pieces.clone(), &mut ());
                CandidateImage {
                    candidate,
                    image,
                    placement,
                }
            })
            .collect()
    }

    /// What may be a digit. Any sequence of candidates that goes through all pieces is a way to
    /// read the writing; its plausibility is the sum of theirs.
    pub fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let all = self.pieces.len();
        let boundaries: Vec<f32> = (0..=all).map(|at| self.boundary(at)).collect();
        for first in 0..all {
            let mut bounds = Bounds::default();
            let most = if first == 0 { all } else { MAX_PIECES };
            for (count, piece) in self.pieces.iter().skip(first).take(most).enumerate() {
                bounds = bounds.union(piece.bounds);
                let pieces = first..first + count + 1;
                if self.widest_gap(&pieces) > WIDE_GAP * self.height {
                    break;
                }
                let possible = count < MAX_PIECES && bounds.size(0) <= MAX_WIDTH * self.height;
                if count == 0 || pieces.len() == all || possible {
                    candidates.push(Candidate {
                        plausibility: self.plausibility(&pieces, bounds)
                            - boundaries.get(pieces.end).copied().unwrap_or_default(),
                        pieces,
                        bounds: bounds.scaled(self.unit()),
                    });
                }
            }
        }
        candidates
    }

    /// How plausible it is by their size and the gaps between them that these pieces are a digit.
    fn plausibility(&self, pieces: &Range<usize>, bounds: Bounds) -> f32 {
        let gap = self.relative(self.widest_gap(pieces));
        let apart = if gap > 0.0 {
            GAP[0] + GAP[1] * gap
        } else {
            0.0
        };
        let above =
            |limit: [f32; 2]| limit[1] * (self.relative(bounds.size(0)) - limit[0]).max(0.0);
        let shape = if pieces.len() == self.pieces.len() {
            above(WIDE_ALONE)
        } else {
            above(WIDE) + LOW[1] * (LOW[0] - self.relative(bounds.size(1))).max(0.0)
        };
        -shape - apart
    }

    /// The penalty of a boundary between two digits before this piece: pieces on both sides of it
    /// overlap, cross or are parts of one.
    fn boundary(&self, at: usize) -> f32 {
        let (left, right) = self.pieces.split_at(at);
        let pairs = || left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
        let overlap = pairs()
            .map(|(a, b)| self.relative(a.bounds.overlap(&b.bounds, 0)))
            .fold(0.0, f32::max);
        let crossing = if pairs().any(|(a, b)| !a.is_cut_from_same(b) && a.crosses(b)) {
            CROSSING
        } else {
            0.0
        };
        let cut = pairs()
            .find(|(a, b)| a.is_cut_from_same(b))
            .map_or(0.0, |(a, _)| {
                let parts = self.pieces.iter().filter(|piece| piece.is_cut_from_same(a));
                let whole = parts.fold(Bounds::default(), |whole, part| whole.union(part.bounds));
                CUT[0] + CUT[1] * (CUT[2] - self.relative(whole.size(0))).max(0.0)
            });
        OVERLAP * overlap + crossing + cut
    }

    /// A length relative to the height of the writing.
    fn relative(&self, length: f32) -> f32 {
        length / self.height.max(f32::MIN_POSITIVE)
    }

    /// The widest gap between these pieces, seen from above; if a stroke goes on there is none.
    fn widest_gap(&self, pieces: &Range<usize>) -> f32 {
        let parts = self.pieces.get(pieces.clone()).unwrap_or_default();
        let goes_on = |at: usize| {
            parts[..at]
                .iter()
                .any(|a| parts[at..].iter().any(|b| a.is_cut_from_same(b)))
        };
        (1..parts.len())
            .filter(|&at| !goes_on(at))
            .map(|at| {
                let right = parts[at..]
                    .iter()
                    .map(|piece| piece.bounds.low[0])
                    .fold(f32::INFINITY, f32::min);
                let left = parts[..at]
                    .iter()
                    .map(|piece| piece.bounds.high[0])
                    .fold(f32::NEG_INFINITY, f32::max);
                right - left
            })
            .fold(0.0, f32::max)
    }
}
