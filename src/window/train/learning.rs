//! The predictions of the current or last run for its validation images, as the window knows them.

use crate::notices::verdict::whole_percent;
use crate::records::{FilterImages, HeldOutAnswer, HeldOutImage, HeldOutSnapshot, JobId};
use crate::run_config::Classes;
use crate::text::format::grouped;
use crate::window::Train;

/// The validation images of a run, and what its network makes of them.
#[derive(Clone, Debug)]
pub struct HeldOutView {
    pub run: JobId,
    pub classes: Classes,
    /// Its images, ordered by class.
    pub images: Vec<HeldOutImage>,
    /// The newest answers, in the order of the images; empty before the first.
    pub answers: Vec<HeldOutAnswer>,
    pub step: u64,
    /// The first layer as it was looked at last, and the steps behind it.
    pub first_layer: Option<(u64, FilterImages)>,
}

/// How many images of a class are classified correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCount {
    pub correct: u32,
    pub images: u32,
}

impl HeldOutView {
    /// Images that are not classified yet.
    pub const fn new(run: JobId, classes: Classes, images: Vec<HeldOutImage>) -> Self {
        Self {
            run,
            classes,
            images,
            answers: Vec::new(),
            step: 0,
            first_layer: None,
        }
    }

    pub fn take(&mut self, snapshot: HeldOutSnapshot) {
        let HeldOutSnapshot {
            step,
            answers,
            first_layer,
        } = snapshot;
        (self.step, self.answers) = (step, answers);
        if let Some(layer) = first_layer {
            self.first_layer = Some((step, layer));
        }
    }

    /// True if an image is classified correctly.
    pub fn is_correct(&self, index: usize) -> bool {
        self.images
            .get(index)
            .zip(self.answers.get(index))
            .is_some_and(|(image, answer)| image.label == answer.digit)
    }

    /// How many images of each class are classified correctly.
    pub fn by_class(&self) -> Vec<ClassCount> {
        let mut counts = vec![ClassCount::default(); self.classes.len()];
        for (index, image) in self.images.iter().enumerate() {
            if let Some(count) = counts.get_mut(usize::from(image.label)) {
                count.images += 1;
                count.correct += u32::from(self.is_correct(index));
            }
        }
        counts
    }

    /// All images together: "87 of 100 correct".
    pub fn total(&self) -> String {
        if self.answers.is_empty() {
            return "not classified yet".to_owned();
        }
        let correct = self
            .by_class()
            .iter()
            .map(|count| count.correct)
            .sum::<u32>();
        format!("{correct} of {} correct", self.images.len())
    }

    /// What the network says of an image: "True digit 4: recognized as 9, 62% sure. Probability of
    /// 4: 30%."
    pub fn sentence(&self, index: usize) -> String {
        let Some(image) = self.images.get(index) else {
            return String::new();
        };
        let (noun, label) = (self.classes.noun(), self.classes.name(image.label));
        match self.answers.get(index) {
            None => format!("True {noun} {label}: not classified yet."),
            Some(answer) if answer.digit == image.label => {
                format!(
                    "True {noun} {label}: recognized as {label}, {} sure.",
                    whole_percent(answer.probability)
                )
            }
            Some(answer) => format!(
                "True {noun} {label}: recognized as {}, {} sure. Probability of {label}: {}.",
                self.classes.name(answer.digit),
                whole_percent(answer.probability),
                whole_percent(answer.label_probability)
            ),
        }
    }

    /// What the images of the first layer are: "First layer at step 1,240: 24 filters of 5 × 5
    /// pixels."
    pub fn layer_sentence(&self) -> Option<String> {
        let (step, layer) = self.first_layer.as_ref()?;
        let FilterImages {
            width,
            height,
            images,
        } = layer;
        let what = if usize::from(*width) == crate::ink::SIDE {
            "neurons"
        } else {
            "filters"
        };
        Some(format!(
            "First layer at step {}: {} {what} of {width} × {height} weights.",
            grouped(*step),
            images.len()
        ))
    }
}

impl Train {
    /// The predictions of the current or last run for its validation images, once there are any.
    pub fn learning(&self) -> Option<&HeldOutView> {
        let run = self.run.as_ref()?;
        self.learning
            .as_ref()
            .filter(|learning| learning.run == run.id)
    }
}
