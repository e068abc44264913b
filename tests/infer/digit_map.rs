//! Maps of digits: which images are on them, where they are, and which are nearest to a drawing.

use std::sync::Arc;
use std::time::Duration;

use inkling::data::Split;
use inkling::infer::{Classifier, Effort, MapImages, MappedImages};
use inkling::nn::Net;
use inkling::progress::{Cancelled, Unwatched};
use inkling::records::{Calibration, LabeledImage, MapLayer, MapSource, MapSpec};
use inkling::run_config::{Activation, DataSpec, DeviceChoice, EvaluationSplit, ModelKind};

use super::{image, info};
use crate::synthetic::squares;

fn model(kind: ModelKind, seed: u64) -> Classifier {
    let net = Net::new(kind, Activation::Relu, 10, seed).unwrap();
    Classifier::new(net, DeviceChoice::Cpu, info(kind), Calibration::NONE)
}

fn images(validation: usize, train: &Split) -> Arc<MapImages> {
    let indices: Vec<u32> = (0..train.len() as u32).collect();
    let validation = squares(validation, 1);
    let trained = (train, &indices[..]);
    Arc::new(MapImages::of_run(DataSpec::builtin(), &validation, trained))
}

fn mapped(model: &Classifier, images: &Arc<MapImages>, own: &[LabeledImage]) -> MappedImages {
    let (images, effort) = (Arc::clone(images), Effort::Time(Duration::MAX));
    MappedImages::new(1, model, images, own.to_vec(), effort, &mut Unwatched).unwrap()
}

fn spec(components: usize) -> MapSpec {
    MapSpec {
        components,
        ..MapSpec::default()
    }
}

#[test]
fn held_out_images_and_own_drawings_are_points_of_the_last_hidden_layer() {
    let own = [LabeledImage {
        image: image(3),
        label: 3,
    }];
    let images = images(300, &squares(200, 2));
    let lenet = model(ModelKind::LeNet, 1);
    let mapped = mapped(&lenet, &images, &own);
    assert_eq!(mapped.counts(), [300, 200]);
    let map = mapped.answer(&spec(2));
    assert_eq!((map.points.len(), map.held_out(), map.own), (301, 300, 1));
    assert_eq!(map.layer, MapLayer::Hidden { units: 84 });
    assert_eq!((map.coordinates.len(), map.explained.len()), (602, 2));
    assert!(map.explained[0] >= map.explained[1] && map.explained[1] > 0.0);
    let source = MapSource {
        data: DataSpec::builtin(),
        split: EvaluationSplit::Validation,
    };
    assert_eq!(map.source, Some(source));
    let shown = map.images.unwrap();
    for (labeled, point) in shown.iter().zip(&map.points) {
        assert_eq!(labeled.label, point.label);
    }
    let known = mapped.answer(&MapSpec {
        known: Some(map.images_id),
        ..spec(30)
    });
    assert!(known.images.is_none(), "they are not sent twice");
    assert_eq!(known.explained.len(), 30);
    // Points are where drawings of the same images would be.
    for index in [0, 17] {
        let found = mapped.neighborhood(&lenet, &shown[index].image, 1).unwrap();
        let there = &known.coordinates[index * 30..(index + 1) * 30];
        let largest = there
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        for (found, there) in found.coordinates.iter().zip(there) {
            assert!((found - there).abs() < 1e-3 * largest, "{found} {there}");
        }
    }
}

#[test]
fn the_nearest_of_the_images_trained_on_come_first() {
    let train = squares(200, 2);
    let lenet = model(ModelKind::LeNet, 1);
    let of_run = mapped(&lenet, &images(50, &train), &[]);
    for index in [0, 55, 199] {
        let image = inkling::ink::Image::try_from(train.image(index)).unwrap();
        let found = of_run.neighborhood(&lenet, &image, 5).unwrap();
        assert!(found.trained && found.among == 200 && found.nearest.len() == 5);
        assert_eq!(found.nearest[0].labeled.image, image);
        assert!(found.nearest[0].distance < 1e-3);
        let distances = found.nearest.windows(2);
        assert!(
            distances
                .into_iter()
                .all(|pair| pair[0].distance <= pair[1].distance)
        );
    }
    let source = MapSource {
        data: DataSpec::builtin(),
        split: EvaluationSplit::Test,
    };
    let held_out = Arc::new(MapImages::held_out(source, &squares(50, 1)));
    let found = mapped(&lenet, &held_out, &[]);
    let found = found.neighborhood(&lenet, &image(3), 5).unwrap();
    assert!(!found.trained && found.among == 50);
}

#[test]
fn another_model_makes_another_map() {
    let images = images(100, &squares(100, 2));
    let of = |model: &Classifier| mapped(model, &images, &[]).answer(&spec(2));
    let [one, again, other] = [1, 1, 2].map(|seed| of(&model(ModelKind::Mlp, seed)));
    assert_eq!(one.coordinates, again.coordinates);
    assert_ne!(one.coordinates, other.coordinates);
    assert_eq!(one.images_id, other.images_id);
    let linear = of(&model(ModelKind::Linear, 1));
    assert_eq!(linear.layer, MapLayer::Pixels);
}

#[test]
fn later_maps_of_a_run_have_as_many_images_as_the_first() {
    let images = images(600, &squares(600, 2));
    let (mlp, own) = (model(ModelKind::Mlp, 1), Vec::new);
    let of = |effort| {
        let images = Arc::clone(&images);
        MappedImages::new(1, &mlp, images, own(), effort, &mut Unwatched).unwrap()
    };
    let hurried = of(Effort::Time(Duration::ZERO));
    assert_eq!(hurried.counts(), [250, 250], "some in any case");
    assert_eq!(hurried.answer(&spec(2)).points.len(), 250);
    assert_eq!(of(Effort::Images([300, 7])).counts(), [300, 7]);
}

#[test]
fn own_drawings_are_replaced_and_a_map_of_them_alone_is_one() {
    let none = Arc::new(MapImages::default());
    let drawings: Vec<LabeledImage> = (0..12)
        .map(|index| LabeledImage {
            image: image(index),
            label: (index % 10) as u8,
        })
        .collect();
    let mlp = model(ModelKind::Mlp, 1);
    let empty = mapped(&mlp, &none, &[]);
    assert!(empty.answer(&spec(2)).points.is_empty());
    assert!(
        empty
            .neighborhood(&mlp, &image(1), 3)
            .unwrap()
            .nearest
            .is_empty()
    );
    let with = empty.with_own(2, &mlp, drawings.clone()).unwrap();
    assert!(with.has_own(&drawings) && !with.has_own(&drawings[1..]));
    let map = with.answer(&spec(2));
    assert_eq!((map.id, map.points.len(), map.held_out()), (2, 12, 0));
    assert!(map.explained[0] > 0.0 && map.source.is_none());
}

#[test]
fn a_map_can_be_cancelled() {
    let images = images(300, &squares(100, 2));
    let mlp = model(ModelKind::Mlp, 1);
    let effort = Effort::Time(Duration::MAX);
    let cancelled = MappedImages::new(1, &mlp, images, Vec::new(), effort, &mut |_: f32| {
        Err(Cancelled)
    });
    assert!(cancelled.is_err());
}
