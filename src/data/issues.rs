//! What may be wrong with the images of a data set, found by looking at each of them once before
//! training. The same is looked for in photographs by `CleanVision`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Dataset, Split};
use crate::ink::{Image, SIDE};
use crate::run_config::Classes;
use crate::text::format::{count, grouped};

/// Images that are kept of each issue, to show it.
const EXAMPLES: usize = 8;
/// Images with less contrast than this are blank: paper, or noise of a scanner.
const CONTRAST: u8 = 16;
/// A class with fewer images than this fraction of the largest one is rare.
const RARE: f64 = 0.1;

/// One of the two parts of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Training,
    Test,
}

impl Part {
    const fn adjective(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Test => "test",
        }
    }
}

/// A possible problem of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// All pixels are nearly the same.
    Blank,
    /// Its edge is light, so that it shows dark writing on light paper. MNIST is the other way
    /// round.
    LightBackground,
    /// The same pixels and label as an earlier image of the same part.
    Duplicate,
    /// The same pixels as an earlier image of the same part, but another label.
    ConflictingLabel,
    /// A test image with the same pixels as a training image.
    InTrainingToo,
}

/// Images with the same issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Their possible problems.
    pub kind: IssueKind,
    pub part: Part,
    pub images: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its place in its part, from 0.
    pub index: u32,
    pub label: u8,
    pub image: Image,
}

impl Issue {
    /// The finding and its meaning for training, in a sentence or two.
    pub fn sentence(&self) -> String {
        let part = self.part.adjective();
        let (images, is, has, copy) = match self.images {
            1 => (
                format!("1 {part} image"),
                "is",
                "has",
                "a copy of an earlier one",
            ),
            many => (
                format!("{} {part} images", grouped(many)),
                "are",
                "have",
                "copies of earlier ones",
            ),
        };
        match self.kind {
            IssueKind::Blank => format!("{images} {is} blank. Blank images carry no information."),
            IssueKind::LightBackground => {
                format!(
                    "{images} {has} a light background. Light digits on dark are expected, as in MNIST: invert them."
                )
            }
            IssueKind::Duplicate => {
                format!("{images} {is} {copy}. Duplicates count more than once in training.")
            }
            IssueKind::ConflictingLabel => {
                format!(
                    "{images} {is} {copy} with a different label. One of the two labels is wrong."
                )
            }
            IssueKind::InTrainingToo => {
                format!(
                    "{images} {is} also in the training images. The test accuracy will be higher than on new images."
                )
            }
        }
    }

    /// Where one of its images is: "Training image 52 (from 0), labeled 7".
    pub fn place_of(&self, example: &Example) -> String {
        let part = if self.part == Part::Training {
            "Training"
        } else {
            "Test"
        };
        format!(
            "{part} image {} (from 0), labeled {}",
            grouped(example.index.into()),
            example.label
        )
    }
}

/// A data set at a glance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Training images of each class.
    pub train: Vec<u64>,
    /// Test images of each class.
    pub test: Vec<u64>,
    /// Changes of the images besides reading them.
    pub notes: Vec<String>,
    pub issues: Vec<Issue>,
}

impl Overview {
    /// Looks at every image of the set.
    pub fn of(set: &Dataset) -> Self {
        let classes = set.classes.len();
        let mut training = HashMap::new();
        let mut issues = of_part(&set.train, Part::Training, &mut training);
        issues.extend(of_part(&set.test, Part::Test, &mut HashMap::new()));
        let leaked =
            (0..set.test.len()).filter(|&index| training.contains_key(set.test.image(index)));
        let mut found = Found::default();
        leaked.for_each(|index| found.add(&set.test, index));
        issues.extend(found.issue(IssueKind::InTrainingToo, Part::Test));
        Self {
            train: class_counts(&set.train, classes),
            test: class_counts(&set.test, classes),
            notes: set.notes.clone(),
            issues,
        }
    }

    /// The rarest training class and its images, and the largest, if one has ten times as many
    /// as the other.
    pub fn imbalance(&self) -> Option<[(usize, u64); 2]> {
        let rarest = self
            .train
            .iter()
            .copied()
            .enumerate()
            .min_by_key(|(_, images)| *images)?;
        let largest = self
            .train
            .iter()
            .copied()
            .enumerate()
            .rev()
            .max_by_key(|(_, images)| *images)?;
        (rarest.1 as f64 <= RARE * largest.1 as f64).then_some([rarest, largest])
    }

    /// The same in a sentence.
    pub fn imbalance_sentence(&self, classes: &Classes) -> Option<String> {
        let [(rare, few), (frequent, many)] = self.imbalance()?;
        let [rare, frequent] = [rare, frequent].map(|class| classes.name(class));
        let (few, many) = (count(few, "training image"), grouped(many));
        Some(format!(
            "Class imbalance: {few} of {rare}, but {many} of {frequent}. Expect a low accuracy on rare classes."
        ))
    }

    /// How many images there are, and of each class: "60,000 training images, 5,421 to 6,742 of
    /// each class".
    pub fn summary(&self, part: Part) -> String {
        let counts = if part == Part::Training {
            &self.train
        } else {
            &self.test
        };
        let total: u64 = counts.iter().sum();
        let images = count(total, &format!("{} image", part.adjective()));
        match (counts.iter().min(), counts.iter().max()) {
            _ if total == 0 => format!("No {} images", part.adjective()),
            (Some(fewest), Some(most)) if fewest < most => format!(
                "{images}, {} to {} of each class",
                grouped(*fewest),
                grouped(*most)
            ),
            _ => format!(
                "{images}, {} of each class",
                grouped(total / counts.len() as u64)
            ),
        }
    }
}

#[derive(Default)]
struct Found {
    images: u64,
    examples: Vec<Example>,
}

impl Found {
    fn add(&mut self, split: &Split, index: usize) {
        self.images += 1;
        if self.examples.len() < EXAMPLES
            && let Ok(image) = Image::try_from(split.image(index))
        {
            self.examples.push(Example {
                index: index as u32,
                label: split.labels[index],
                image,
            });
        }
    }

    fn issue(self, kind: IssueKind, part: Part) -> Option<Issue> {
        (self.images > 0).then_some(Issue {
            kind,
            part,
            images: self.images,
            examples: self.examples,
        })
    }
}

/// The issues within a part, and where each of its images is first.
fn of_part<'a>(split: &'a Split, part: Part, first: &mut HashMap<&'a [u8], usize>) -> Vec<Issue> {
    let [mut blank, mut light, mut duplicate, mut conflicting] = [(); 4].map(|()| Found::default());
    for index in 0..split.len() {
        let pixels = split.image(index);
        if is_blank(pixels) {
            blank.add(split, index);
            continue;
        }
        if has_light_edge(pixels) {
            light.add(split, index);
        }
        match first.entry(pixels) {
            Entry::Vacant(entry) => _ = entry.insert(index),
            Entry::Occupied(entry) if split.labels[*entry.get()] == split.labels[index] => {
                duplicate.add(split, index);
            }
            Entry::Occupied(_) => conflicting.add(split, index),
        }
    }
    let found = [
        (IssueKind::Blank, blank),
        (IssueKind::LightBackground, light),
        (IssueKind::ConflictingLabel, conflicting),
        (IssueKind::Duplicate, duplicate),
    ];
    found
        .into_iter()
        .filter_map(|(kind, found)| found.issue(kind, part))
        .collect()
}

fn is_blank(pixels: &[u8]) -> bool {
    let (low, high) = pixels.iter().fold((u8::MAX, 0), |(low, high), &pixel| {
        (low.min(pixel), high.max(pixel))
    });
    high - low < CONTRAST
}

/// Whether more than half of the pixels at the edge are lighter than middle gray.
fn has_light_edge(pixels: &[u8]) -> bool {
    let last = SIDE - 1;
    let edge =
        (0..last).flat_map(|at| [at, last * SIDE + at + 1, (at + 1) * SIDE, at * SIDE + last]);
    edge.filter(|&at| pixels[at] > 127).count() > 2 * last
}

fn class_counts(split: &Split, classes: usize) -> Vec<u64> {
    let mut counts = vec![0; classes];
    for &label in &split.labels {
        if let Some(count) = counts.get_mut(usize::from(label)) {
            *count += 1;
        }
    }
    counts
}
