//! What a data set holds, as checksums: whether it is still the one that an interrupted run was
//! trained on.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DataPart, DataSet};

/// Bytes that are hashed in one piece; pieces are hashed on all cores.
const PIECE: usize = 1 << 20;

/// The SHA-256 of each part of a data set, in the order of its images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    train_images: [u8; 32],
    train_labels: [u8; 32],
    test: [u8; 32],
}

impl Fingerprint {
    /// The fingerprint of this data set.
    pub fn of(set: &DataSet) -> Self {
        Self {
            train_images: digest(&[&set.train.images]),
            train_labels: digest(&[&set.train.labels]),
            test: digest(&[&set.test.images, &set.test.labels]),
        }
    }

    /// The first part that differs.
    pub fn difference(&self, other: &Self) -> Option<DataPart> {
        let differs = [
            (
                self.train_images != other.train_images,
                DataPart::TrainImages,
            ),
            (
                self.train_labels != other.train_labels,
                DataPart::TrainLabels,
            ),
            (self.test != other.test, DataPart::Test),
        ];
        differs
            .into_iter()
            .find_map(|(differs, part)| differs.then_some(part))
    }
}

/// The digest of the digests of all pieces.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut whole = Sha256::new();
    for part in parts {
        whole.update((part.len() as u64).to_le_bytes());
        let pieces: Vec<_> = part.par_chunks(PIECE).map(Sha256::digest).collect();
        pieces.iter().for_each(|piece| whole.update(piece));
    }
    whole.finalize().into()
}
