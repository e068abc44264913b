//! The validation split: disjoint, repeatable, never empty.

use inkling::data::ValidationSplit;
use inkling::run_config::RunConfig;

use crate::synthetic::squares;

#[test]
fn every_image_is_on_exactly_one_side() {
    let images = squares(241, 1);
    let ValidationSplit { train, validation } = ValidationSplit::new(&images, 9);
    assert_eq!((train.len(), validation.len()), (221, 20));
    let mut sides: Vec<&[u8]> = train
        .iter()
        .map(|&position| images.image(position as usize))
        .collect();
    sides.extend((0..validation.len()).map(|index| validation.image(index)));
    let mut all: Vec<&[u8]> = (0..images.len()).map(|index| images.image(index)).collect();
    sides.sort_unstable();
    all.sort_unstable();
    // Every image is different (noise), so equal lists mean disjoint sides.
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(sides, all);
    for index in 0..validation.len() {
        let place = (0..images.len())
            .find(|&place| images.image(place) == validation.image(index))
            .unwrap();
        assert_eq!(images.labels[place], validation.labels[index]);
    }
}

#[test]
fn the_seed_decides() {
    let images = squares(60, 1);
    assert_eq!(
        ValidationSplit::new(&images, 1).train,
        ValidationSplit::new(&images, 1).train
    );
    assert_ne!(
        ValidationSplit::new(&images, 1).validation,
        ValidationSplit::new(&images, 2).validation
    );
}

#[test]
fn sizes_are_sensible_from_nothing_up() {
    for (images, held) in [(0, 0), (1, 1), (2, 1), (11, 2), (24, 4), (600, 50)] {
        let split = ValidationSplit::new(&squares(images, 1), 1);
        assert_eq!(
            (split.train.len(), split.validation.len()),
            (images - held, held),
            "of {images}"
        );
    }
}

#[test]
fn little_data_has_a_larger_share_for_validation() {
    let sizes = [0, 1, 4, 10, 24, 48, 60, 120, 241, 60_000].map(inkling::data::validation_size);
    assert_eq!(sizes, [0, 1, 1, 2, 4, 9, 10, 10, 20, 5_000]);
}

#[test]
fn fewer_training_images_are_as_many_of_each_class() {
    let images = squares(600, 1);
    let of = |training_images| {
        let config = RunConfig {
            training_images,
            seed: 4,
            ..RunConfig::default()
        };
        ValidationSplit::of_run(&images, &config)
    };
    let all = of(None);
    for count in [1, 10, 25, 100] {
        let few = of(Some(count));
        assert_eq!(few.train.len(), count as usize);
        assert_eq!(few.validation, all.validation);
        assert!(few.train.iter().all(|index| all.train.contains(index)));
        let of_class = |class: u8| {
            let labels = few.train.iter().map(|&index| images.labels[index as usize]);
            labels.filter(|label| *label == class).count()
        };
        let counts: Vec<usize> = (0..10).map(of_class).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= 1, "{count}: {counts:?}");
    }
    assert_eq!(of(Some(100_000)).train.len(), all.train.len());
}
