//! The map in sentences.

use super::{Layout, MapOfDigits, ShownMap};
use crate::notices::verdict::whole_percent;
use crate::records::{DigitMap, MapLayer, MapSource, Neighborhood};
use crate::run_config::{Classes, DataSpec, EvaluationSplit};
use crate::text::format::{capitalized, count, grouped, percent};

/// The layer, in a few words: "Last hidden layer, 84 neurons".
fn layer(layer: MapLayer) -> String {
    match layer {
        MapLayer::Hidden { units } => {
            format!("Last hidden layer, {}", count(units as u64, "neuron"))
        }
        MapLayer::Pixels => "Pixels, as this network has no hidden layer".to_owned(),
        MapLayer::Logits => {
            "Scores of the classes, as no single hidden layer of this model is known".to_owned()
        }
    }
}

/// Describes the two directions.
pub fn directions(map: &DigitMap, layout: Layout) -> String {
    let layer = layer(map.layer);
    match layout {
        Layout::Components => {
            let share = |axis: usize| {
                let share = map.explained.get(axis).copied().unwrap_or_default();
                percent(f64::from(share), 0)
            };
            format!(
                "{layer}: first and second principal component ({} and {} of the variance).",
                share(0),
                share(1)
            )
        }
        Layout::Neighbors => format!(
            "{layer}: images that the network finds similar are close together. The distance between groups means little (t-SNE of {} principal components).",
            map.explained.len()
        ),
    }
}

/// Where the held-out images are from: "MNIST, validation split: 2,000 images, 99.1% classified
/// correctly."
pub fn held_out(map: &DigitMap) -> String {
    let Some(MapSource { data, split }) = &map.source else {
        return "No labeled images of this model's classes are at hand.".to_owned();
    };
    let held_out = map.points.iter().take(map.held_out());
    let correct = held_out.filter(|point| point.is_correct()).count();
    let share = percent(correct as f64 / map.held_out().max(1) as f64, 1);
    let why = match split {
        EvaluationSplit::Test if *data == DataSpec::builtin() => ", which no model is trained on",
        _ => "",
    };
    let images = count(map.held_out() as u64, "image");
    format!(
        "{}, {}{why}: {images} shown, {share} classified correctly.",
        data.label(),
        split.label(),
    )
}

/// A point in words: "Validation image: 7, classified as 2 (63%)".
pub fn point(shown: &ShownMap, index: usize, classes: &Classes) -> String {
    let map = &shown.map;
    let Some(point) = map.points.get(index) else {
        return String::new();
    };
    let whose = if index < map.held_out() {
        "Held-out image"
    } else {
        "Your drawing"
    };
    let [label, answer] = [point.label, point.answer].map(|class| classes.name(class));
    let confidence = whole_percent(point.confidence);
    if point.is_correct() {
        format!("{whose}: {label}, classified correctly ({confidence})")
    } else {
        format!("{whose}: {label}, classified as {answer} ({confidence})")
    }
}

/// The whole map, for those who do not see it.
pub fn summary(map: &MapOfDigits) -> String {
    let Some(shown) = map.shown() else {
        return "not computed yet".to_owned();
    };
    let mut summary = held_out(&shown.map);
    if shown.map.own > 0 {
        summary.push_str(&format!(
            " {} of yours.",
            count(shown.map.own as u64, "drawing")
        ));
    }
    summary
}

/// The heading of the nearest images: "Nearest of 10,000 training images".
pub fn among(neighborhood: &Neighborhood) -> String {
    let kind = if neighborhood.trained {
        "training images"
    } else {
        "held-out images"
    };
    format!("Nearest of {} {kind}", grouped(neighborhood.among as u64))
}

/// How many of the `shown` nearest images are of which class: "5 are 3s, 1 is 5", "all 10 are 3s".
pub fn labels(neighborhood: &Neighborhood, shown: usize, classes: &Classes) -> String {
    let mut counts: Vec<(u8, usize)> = Vec::new();
    for near in neighborhood.nearest.iter().take(shown) {
        let label = near.labeled.label;
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let plural = if classes.are_digits() { "s" } else { "" };
    if let [(label, count)] = counts[..]
        && count > 1
    {
        return format!("all {count} are {}{plural}", classes.name(label));
    }
    let part = |(label, count): &(u8, usize)| {
        let (verb, plural) = if *count == 1 {
            ("is", "")
        } else {
            ("are", plural)
        };
        format!("{count} {verb} {}{plural}", classes.name(*label))
    };
    capitalized(&counts.iter().map(part).collect::<Vec<_>>().join(", "))
}
