//! Labels that are probably wrong.

use inkling::math::label_errors::{LabelSuspect, label_suspects};

fn suspects(images: &[(&[f32], u8)]) -> Vec<(usize, usize)> {
    let found = label_suspects(images.iter().copied());
    assert!(
        found
            .windows(2)
            .all(|pair| pair[0].margin <= pair[1].margin)
    );
    let place = |suspect: LabelSuspect| (suspect.index, suspect.suggested);
    found.into_iter().map(place).collect()
}

#[test]
fn a_class_counts_from_its_mean_self_confidence_on() {
    // Thresholds are 0.7 for class 0, (0.9 + 0.8 + 0.1) / 3 = 0.6 for class 1.
    let images: [(&[f32], u8); 6] = [
        (&[0.9, 0.1], 0),
        (&[0.8, 0.2], 0),
        // Rather class 1, but not as clearly as images that are labeled so.
        (&[0.41, 0.59], 0),
        (&[0.1, 0.9], 1),
        (&[0.2, 0.8], 1),
        (&[0.9, 0.1], 1),
    ];
    assert_eq!(suspects(&images), [(5, 0)]);
    let found = label_suspects(images.into_iter());
    assert!((found[0].margin + 0.8).abs() < 1e-6, "{found:?}");
}

#[test]
fn a_label_that_counts_too_is_only_suspected_if_another_class_is_more_probable() {
    // Of class 0 the threshold is 0.4, of class 1 it is 0.5, of class 2 0.05.
    let images: [(&[f32], u8); 4] = [
        (&[0.5, 0.45, 0.05], 0),
        (&[0.3, 0.6, 0.1], 0),
        (&[0.5, 0.5, 0.0], 1),
        (&[0.9, 0.05, 0.05], 2),
    ];
    // The third counts as both, and its label is as probable as the other class.
    assert_eq!(suspects(&images), [(3, 0), (1, 1)]);
}

#[test]
fn a_class_without_images_is_never_suggested_and_no_image_has_no_suspects() {
    assert!(suspects(&[(&[0.2, 0.8], 0), (&[0.3, 0.7], 0)]).is_empty());
    assert!(suspects(&[]).is_empty());
    let not_finite = [f32::NAN, f32::NAN];
    assert!(suspects(&[(&not_finite, 0), (&[0.1, 0.9], 1)]).is_empty());
}
