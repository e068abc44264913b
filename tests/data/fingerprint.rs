//! Fingerprints of data sets: the same for the same images in the same order, and what differs
//! otherwise.

use inkling::data::{DataPart, Fingerprint};

use crate::synthetic::square_set;

#[test]
fn what_has_changed_is_named() {
    // More than a piece that is hashed by itself.
    let set = square_set(1500, 20);
    let whole = Fingerprint::of(&set);
    assert_eq!(whole.difference(&Fingerprint::of(&set.clone())), None);
    let differs = |change: fn(&mut inkling::data::Dataset)| {
        let mut changed = set.clone();
        change(&mut changed);
        whole.difference(&Fingerprint::of(&changed))
    };
    assert_eq!(
        differs(|set| set.train.images[0] ^= 1),
        Some(DataPart::TrainImages)
    );
    assert_eq!(
        differs(|set| *set.train.images.last_mut().unwrap() ^= 128),
        Some(DataPart::TrainImages)
    );
    assert_eq!(
        differs(|set| set.train.labels.swap(3, 4)),
        Some(DataPart::TrainLabels)
    );
    assert_eq!(differs(|set| set.test.images[9] ^= 1), Some(DataPart::Test));
    assert_eq!(
        differs(|set| set.test.labels.swap(0, 1)),
        Some(DataPart::Test)
    );
}
