//! Which ink speaks for a class, and which change would make a drawing another one.

use inkling::data::load;
use inkling::infer::{Classify, read_candidates, read_number, starter_file};
use inkling::ink::{Framing, Image, Ink, PIXELS, SIDE, Steps, Writing, read_writing_file};
use inkling::math::random::Random;
use inkling::nn::{Mode, Net};
use inkling::progress::Unwatched;
use inkling::records::{PredictionDetails, Recognition, WhySpec};

use candle_core::{Device, Tensor};

use crate::support::{mnist_folder, starter};

fn test_images(count: usize) -> Vec<Image> {
    let (data, folders) = match mnist_folder() {
        Some(folder) => ("mnist", vec![folder]),
        None => ("builtin", Vec::new()),
    };
    let set = load(&data.parse().unwrap(), &folders, &mut Unwatched).unwrap();
    (0..count)
        .map(|index| Image::try_from(set.test.image(index)).unwrap())
        .collect()
}

fn explained(strokes: &[&[[f32; 2]]], class: Option<u8>) -> Recognition {
    let ink = Ink {
        strokes: strokes.iter().map(|stroke| stroke.to_vec()).collect(),
        pen: Some(18.0),
    };
    let prediction = starter().classify_drawing(&ink, &Steps::ALL).unwrap();
    let details = PredictionDetails {
        why: Some(WhySpec {
            class,
            counterfactual: true,
            ..WhySpec::default()
        }),
        ..PredictionDetails::default()
    };
    starter()
        .explain(prediction, (&ink, &Steps::ALL), &details)
        .unwrap()
}

const SEVEN: [&[[f32; 2]]; 1] = [&[[70.0, 70.0], [200.0, 70.0], [120.0, 220.0]]];
const ONE: [&[[f32; 2]]; 1] = [&[[145.0, 50.0], [140.0, 140.0], [136.0, 230.0]]];
const FOUR: [&[[f32; 2]]; 2] = [
    &[[110.0, 60.0], [80.0, 150.0], [190.0, 150.0]],
    &[[175.0, 70.0], [165.0, 230.0]],
];

#[test]
fn the_values_add_up_to_what_the_ink_changes() {
    for image in test_images(20) {
        let class = starter().classify(image.clone()).unwrap().digit;
        let found = starter().attribution(&image, class).unwrap();
        let sum: f32 = found.values.iter().sum();
        let by_ink = found.log_odds - found.blank;
        assert!(
            (sum - by_ink).abs() < 1e-3 * by_ink.abs().max(1.0),
            "{sum} {by_ink}"
        );
        let pixels = image.pixels().iter().zip(&found.values);
        assert!(
            pixels
                .clone()
                .all(|(gray, value)| *gray > 0 || *value == 0.0)
        );
        assert_eq!(found, starter().attribution(&image, class).unwrap());
    }
}

/// Images that are tried, unless the environment asks for more, as `.ci/run` does.
const IMAGES: usize = 40;

fn images() -> usize {
    std::env::var("INKLING_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(IMAGES)
}

/// The probabilities of a class for these images.
fn probabilities(net: &Net, images: &[u8], class: usize) -> Vec<f32> {
    let logits = net.forward(images, Mode::Eval).unwrap();
    let shares = candle_nn::ops::softmax(&logits, 1).unwrap();
    let rows = shares.to_vec2::<f32>().unwrap();
    rows.iter().map(|row| row[class]).collect()
}

/// The gradient of the log-odds of a class at each pixel, by differences.
fn gradient(net: &Net, image: &Image, class: usize) -> Vec<f32> {
    const STEP: f32 = 4.0;
    let pixels: Vec<f32> = image.pixels().iter().map(|gray| f32::from(*gray)).collect();
    let mut all = pixels.clone();
    for pixel in 0..PIXELS {
        all.extend_from_slice(&pixels);
        all[(pixel + 1) * PIXELS + pixel] += STEP;
    }
    let all = Tensor::from_vec(all, (PIXELS + 1, PIXELS), &Device::Cpu).unwrap();
    let logits = net.forward(&all, Mode::Eval).unwrap();
    let odds: Vec<f32> = logits
        .to_vec2::<f32>()
        .unwrap()
        .into_iter()
        .map(|row| {
            let others = row.iter().enumerate().filter(|(other, _)| *other != class);
            row[class] - others.map(|(_, logit)| logit.exp()).sum::<f32>().ln()
        })
        .collect();
    odds[1..]
        .iter()
        .map(|with| (with - odds[0]) / STEP)
        .collect()
}

/// The mean probability of the class while pixels are taken away, and while they are added, in the
/// order of these values (Petsiuk, Das & Saenko 2018, "RISE").
fn deletion_and_insertion(net: &Net, image: &Image, class: usize, values: &[f32]) -> [f32; 2] {
    let mut order: Vec<usize> = (0..PIXELS).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let (mut left, mut added) = (*image.pixels(), [0; PIXELS]);
    let mut images = [left.to_vec(), added.to_vec()];
    for pixels in order.chunks(16) {
        for &pixel in pixels {
            left[pixel] = 0;
            added[pixel] = image.pixels()[pixel];
        }
        images[0].extend_from_slice(&left);
        images[1].extend_from_slice(&added);
    }
    images.map(|images| {
        let found = probabilities(net, &images, class);
        found.iter().sum::<f32>() / found.len() as f32
    })
}

#[test]
fn they_find_what_the_answer_rests_on_better_than_gradients_do() {
    let net = starter_file().unwrap().net;
    let mut random = Random::new(1);
    // Ours, at random, gradients, gradients times pixels.
    let mut sums = [[0.0; 2]; 4];
    for image in test_images(images()) {
        let class = starter().classify(image.clone()).unwrap().digit;
        let gradient = gradient(&net, &image, usize::from(class));
        let pixels = image.pixels().iter();
        let times_pixels = gradient.iter().zip(pixels).map(|(a, b)| a * f32::from(*b));
        let ways = [
            starter().attribution(&image, class).unwrap().values,
            (0..PIXELS).map(|_| random.uniform()).collect(),
            gradient.clone(),
            times_pixels.collect(),
        ];
        for (sum, values) in sums.iter_mut().zip(ways) {
            let found = deletion_and_insertion(&net, &image, usize::from(class), &values);
            (sum[0], sum[1]) = (sum[0] + found[0], sum[1] + found[1]);
        }
    }
    eprintln!(
        "deletion and insertion, summed over {} images: {sums:?}",
        images()
    );
    let [ours, others @ ..] = sums;
    for [deletion, insertion] in others {
        assert!(
            ours[0] < 0.8 * deletion && ours[1] > 1.1 * insertion,
            "{sums:?}"
        );
    }
}

#[test]
fn a_drawing_is_found_again_in_its_image() {
    let found = explained(&SEVEN, None);
    assert_eq!(found.prediction.digit, 7);
    let placement = found.explanation.unwrap().placement.unwrap();
    let gray = |point: [f32; 2]| {
        let [x, y] = placement.in_image(point);
        found.prediction.image.pixels()[y as usize * SIDE + x as usize]
    };
    for point in [[75.0, 70.0], [190.0, 70.0], [160.0, 145.0], [122.0, 215.0]] {
        assert!(gray(point) > 128, "{point:?}");
        let back = placement.in_drawing(placement.in_image(point));
        assert!((back[0] - point[0]).abs() < 0.01 && (back[1] - point[1]).abs() < 0.01);
    }
    assert_eq!(gray([80.0, 210.0]), 0);
}

#[test]
fn a_change_makes_a_drawing_what_was_asked_for() {
    let mut found = 0;
    for strokes in [&SEVEN[..], &ONE, &FOUR] {
        for class in 0..10 {
            let before = explained(strokes, Some(class));
            let counterfactual = before.explanation.clone().unwrap().counterfactual;
            if before.prediction.digit == class {
                assert_eq!(counterfactual, None, "nothing has to change");
                continue;
            }
            let counterfactual = counterfactual.unwrap();
            assert_eq!(counterfactual.class, class);
            let Some(change) = counterfactual.change else {
                continue;
            };
            found += 1;
            let ink = Ink {
                strokes: change.strokes,
                pen: Some(18.0),
            };
            let after = starter().classify_drawing(&ink, &Steps::ALL).unwrap();
            assert_eq!(after.digit, class, "{before:?}");
            assert!(after.is_digit && after.confidence == change.probability);
            assert!(!change.added.is_empty() || !change.erased.is_empty());
        }
    }
    assert!(found >= 18, "{found} of 27");
}

#[test]
fn a_seven_without_its_bar_is_a_one_and_a_one_with_it_a_seven() {
    let change = |strokes: &[&[[f32; 2]]], class| {
        let found = explained(strokes, Some(class)).explanation.unwrap();
        found.counterfactual.unwrap().change.unwrap()
    };
    let to_one = change(&SEVEN, 1);
    assert!(to_one.added.is_empty(), "{to_one:?}");
    let erased = to_one.erased.iter().flatten();
    let middle = erased.clone().map(|[_, y]| y).sum::<f32>() / erased.count() as f32;
    assert!(middle < 110.0, "the bar is at the top: {to_one:?}");
    let to_seven = change(&ONE, 7);
    assert_eq!(to_seven.added.len(), 1, "{to_seven:?}");
    let added = to_seven.added.iter().flatten();
    assert!(added.map(|[_, y]| *y).fold(f32::MAX, f32::min) < 120.0);
}

#[test]
fn a_scribble_is_explained_too() {
    let mut random = Random::new(2);
    let points: Vec<[f32; 2]> = (0..20_000)
        .map(|_| [random.range(0.0, 280.0), random.range(0.0, 280.0)])
        .collect();
    let found = explained(&[&points], Some(3)).explanation.unwrap();
    assert!(found.placement.is_some() && found.counterfactual.is_some());
    let dot = explained(&[&[[50.0, 50.0]]], Some(3)).explanation.unwrap();
    assert_eq!(dot.attribution.class, 3);
}

/// The strokes, moved to the right by so many units.
fn moved(strokes: &[&[[f32; 2]]], right: f32) -> Vec<Vec<[f32; 2]>> {
    let stroke = |stroke: &&[[f32; 2]]| stroke.iter().map(|[x, y]| [x + right, *y]).collect();
    strokes.iter().map(stroke).collect()
}

#[test]
fn each_of_several_digits_is_explained_as_if_it_stood_alone() {
    let ink = Ink {
        strokes: [moved(&SEVEN, 0.0), moved(&FOUR, 250.0)].concat(),
        pen: Some(18.0),
    };
    let writing = Writing::of_ink(&ink);
    let mut digits = read_number(&starter(), &writing).unwrap();
    let read: Vec<u8> = digits.iter().map(|it| it.prediction.digit).collect();
    assert_eq!(read, [7, 4]);
    let why = WhySpec {
        digit: 1,
        class: Some(9),
        counterfactual: true,
    };
    starter()
        .explain_number(&mut digits, &writing, why)
        .unwrap();
    let [seven, four] = [0, 1].map(|index: usize| digits[index].explanation.clone().unwrap());
    assert_eq!((seven.attribution.class, four.attribution.class), (7, 9));
    assert_eq!(seven.counterfactual, None, "nobody asked");
    let alone = explained(&FOUR, Some(9)).explanation.unwrap();
    assert_eq!(four.attribution, alone.attribution);
    let [there, here] = [four, alone].map(|it| it.placement.unwrap().in_image([0.0; 2])[0]);
    assert!(there < here - 15.0, "{there} {here}");

    let mut strokes = writing.strokes_without(digits[1].pieces.clone());
    assert_eq!(strokes, moved(&SEVEN, 0.0));
    let four = digits[1].explanation.as_ref().unwrap();
    let change = four.counterfactual.as_ref().unwrap().change.as_ref();
    strokes.extend(change.unwrap().strokes.iter().cloned());
    let changed = Ink { strokes, ..ink };
    let read = read_number(&starter(), &Writing::of_ink(&changed)).unwrap();
    let read: Vec<u8> = read.iter().map(|it| it.prediction.digit).collect();
    assert_eq!(read, [7, 9]);
}

#[test]
fn digits_of_an_image_are_explained_where_they_are() {
    // Ink of 20x100 pixels each, the second further to the right and down.
    let (mut pixels, corners) = (
        image::GrayImage::from_pixel(400, 200, image::Luma([240])),
        [[60, 40], [250, 70]],
    );
    for [left, top] in corners {
        for (x, y) in (0..20).flat_map(|x| (0..100).map(move |y| (x, y))) {
            pixels.put_pixel(left + x, top + y, image::Luma([20]));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("eleven.png");
    pixels.save(&path).unwrap();
    let writing = read_writing_file(&path, Framing::Ink).unwrap();
    let candidates = writing.candidate_images();
    let mut digits = read_candidates(&starter(), &candidates).unwrap();
    let why = WhySpec::default();
    starter()
        .explain_candidates(&mut digits, &candidates, why)
        .unwrap();
    assert_eq!(digits.len(), 2);
    for (digit, [left, top]) in digits.iter().zip(corners) {
        let placement = digit.explanation.as_ref().unwrap().placement.unwrap();
        let gray = |x: u32, y: u32| {
            let [x, y] = placement.in_image([x as f32, y as f32]);
            digit.prediction.image.pixels()[y as usize * SIDE + x as usize]
        };
        for down in [10, 50, 90] {
            assert!(gray(left + 10, top + down) > 128, "{left} {down}");
        }
        assert_eq!(
            (gray(left - 10, top + 50), gray(left + 30, top + 50)),
            (0, 0)
        );
    }
}
