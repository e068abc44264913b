//! Owns labelled pictures in memory: one byte a pixel, as they are kept through a whole run.
//! Must not know where they came from.

use crate::ink::PIXELS;

/// Labelled pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// `labels.len()` pictures of 784 pixels, one after the other.
    pub images: Vec<u8>,
    /// A digit each.
    pub labels: Vec<u8>,
}

impl Split {
    /// How many pictures.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True without pictures.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The pixels of picture `index`.
    pub fn image(&self, index: usize) -> &[u8] {
        &self.images[index * PIXELS..(index + 1) * PIXELS]
    }
}

/// What a run learns from and is measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSet {
    /// Learned from; the validation split is taken out of it by seed.
    pub train: Split,
    /// Read once, at the end.
    pub test: Split,
}
