//! The map of digits: what the last hidden layer makes of held-out images, of training images and
//! of the person's drawings, and where a drawing is among them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::classifier::Classifier;
use super::outputs::{Outputs, Scores};
use crate::data::{Split, gather_batch};
use crate::ink::{Image, PIXELS};
use crate::math::projection::{PrincipalComponents, nearest};
use crate::math::random::Random;
use crate::nn::ComputeError;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{
    COMPONENTS, DigitMap, LabeledImage, MapLayer, MapPoint, MapSource, MapSpec, NearImage,
    Neighborhood,
};
use crate::run_config::{DataSpec, EvaluationSplit, ModelKind};

/// Held-out images on the map, and training images that are looked for near a drawing.
const HELD_OUT: usize = 2_000;
const TRAINING: usize = 10_000;
/// Images that are computed at a time.
const BATCH: usize = 250;
/// Numbers of a wide layer that are kept of either kind of images, and that components are found
/// in: of more, the first images stand for all.
const MOST_NUMBERS: usize = 8 << 20;
const NUMBERS_FOR_COMPONENTS: usize = 800_000;
/// Which images are chosen.
const SEED: u64 = 1;

/// The images of a map. The first of them stand for all: they are in random order.
#[derive(Debug, Default)]
pub struct MapImages {
    /// Where the held-out ones are from; `None` if there are none.
    pub source: Option<MapSource>,
    held_out: Split,
    training: Split,
}

impl MapImages {
    /// Some of a run's validation images, and of the images at these indices, which it trains on.
    pub fn of_run(data: DataSpec, validation: &Split, (train, indices): (&Split, &[u32])) -> Self {
        let all: Vec<u32> = (0..validation.len() as u32).collect();
        Self {
            source: Some(MapSource {
                data,
                split: EvaluationSplit::Validation,
            }),
            held_out: chosen(validation, all, HELD_OUT),
            training: chosen(train, indices.to_vec(), TRAINING),
        }
    }

    /// Some of these images, for a model whose training images are not at hand.
    pub fn held_out(source: MapSource, images: &Split) -> Self {
        let all = (0..images.len() as u32).collect();
        Self {
            source: Some(source),
            held_out: chosen(images, all, HELD_OUT),
            training: Split::default(),
        }
    }

    fn id(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.held_out.images, &self.held_out.labels).hash(&mut hasher);
        hasher.finish()
    }
}

fn chosen(images: &Split, mut indices: Vec<u32>, count: usize) -> Split {
    Random::stream(SEED, "map of digits", 0).shuffle(&mut indices);
    indices.truncate(count);
    let mut split = Split::default();
    gather_batch(images, &indices, &mut split);
    split
}

fn labeled(images: &Split, index: usize) -> Option<LabeledImage> {
    Some(LabeledImage {
        image: Image::try_from(images.image(index)).ok()?,
        label: *images.labels.get(index)?,
    })
}

/// The predictions of a model for some images.
#[derive(Clone, Debug, Default)]
struct Activations {
    /// The numbers of the last hidden layer, image after image.
    values: Vec<f32>,
    /// The class that is predicted for each, and its probability.
    answers: Vec<(u8, f32)>,
}

impl Activations {
    fn width(&self) -> usize {
        self.values.len() / self.answers.len().max(1)
    }
}

/// How much a map may cost.
#[derive(Clone, Copy, Debug)]
pub enum Effort {
    /// As many held-out images as are computed in this time, and as many in the same time that the
    /// model was trained on; some of each in any case.
    Time(Duration),
    /// So many held-out images, and so many that the model was trained on: as many as in an earlier
    /// map.
    Images([usize; 2]),
}

/// A map of one state of a model.
#[derive(Debug)]
pub struct MappedImages {
    /// Identifies it.
    pub id: u64,
    images: Arc<MapImages>,
    layer: MapLayer,
    held_out: Activations,
    training: Activations,
    own: Vec<LabeledImage>,
    of_own: Activations,
    components: PrincipalComponents,
    micros: u32,
}

impl MappedImages {
    /// What the model makes of these images, and of the person's drawings. An error from `progress`
    /// cancels.
    pub fn new(
        id: u64,
        model: &Classifier,
        images: Arc<MapImages>,
        own: Vec<LabeledImage>,
        effort: Effort,
        progress: &mut dyn Progress,
    ) -> Result<Self, Problem> {
        let start = Instant::now();
        let mut of = |split: &Split, part: usize| {
            let (count, limit) = match effort {
                Effort::Time(limit) => (usize::MAX, limit),
                Effort::Images(counts) => (counts[part], Duration::MAX),
            };
            model.activations_within(&split.images, count, limit, progress)
        };
        let held_out = of(&images.held_out, 0)?;
        let training = of(&images.training, 1)?;
        let mut mapped = Self {
            id,
            layer: model.map_layer(held_out.width()),
            images,
            held_out,
            training,
            own: Vec::new(),
            of_own: Activations::default(),
            components: PrincipalComponents::default(),
            micros: 0,
        };
        mapped.add_own(model, own)?;
        mapped.find_components();
        mapped.micros = start.elapsed().as_micros() as u32;
        Ok(mapped)
    }

    /// Whether these are the person's drawings on it.
    pub fn has_own(&self, own: &[LabeledImage]) -> bool {
        self.own == own
    }

    /// The same with these drawings of the person, and another id.
    pub fn with_own(
        mut self,
        id: u64,
        model: &Classifier,
        own: Vec<LabeledImage>,
    ) -> Result<Self, Problem> {
        let start = Instant::now();
        self.id = id;
        self.add_own(model, own)?;
        if self.held_out.answers.is_empty() {
            self.find_components();
        }
        self.micros = start.elapsed().as_micros() as u32;
        Ok(self)
    }

    fn add_own(&mut self, model: &Classifier, own: Vec<LabeledImage>) -> Result<(), Problem> {
        let pixels: Vec<u8> = own
            .iter()
            .flat_map(|own| own.image.pixels())
            .copied()
            .collect();
        self.of_own = model.activations(&pixels)?;
        self.own = own;
        if self.held_out.answers.is_empty() {
            self.layer = model.map_layer(self.of_own.width());
        }
        Ok(())
    }

    fn find_components(&mut self) {
        let of = if self.held_out.answers.is_empty() {
            &self.of_own
        } else {
            &self.held_out
        };
        let width = of.width();
        let images = (NUMBERS_FOR_COMPONENTS / width.max(1)).max(COMPONENTS);
        let values = &of.values[..of.values.len().min(images * width)];
        self.components = PrincipalComponents::of(values, width, COMPONENTS);
    }

    /// How many images it has: held-out ones, and ones trained on.
    pub fn counts(&self) -> [usize; 2] {
        [&self.held_out, &self.training].map(|of| of.answers.len())
    }

    /// The images that it was made of.
    pub fn images(&self) -> Arc<MapImages> {
        Arc::clone(&self.images)
    }

    /// The map as it was asked for.
    pub fn answer(&self, spec: &MapSpec) -> DigitMap {
        let images_id = self.images.id();
        let held_out = &self.images.held_out;
        let images = (spec.known != Some(images_id)).then(|| {
            let all = 0..held_out.len();
            all.filter_map(|index| labeled(held_out, index)).collect()
        });
        let explained = &self.components.explained;
        let explained = explained.iter().copied().take(spec.components);
        let explained: Vec<f32> = explained.collect();
        let activations = [&self.held_out, &self.of_own];
        let rows = activations.map(|of| of.values.chunks_exact(of.width().max(1)));
        let coordinates = rows.into_iter().flatten().flat_map(|row| {
            let mut coordinates = self.components.coordinates(row);
            coordinates.truncate(explained.len());
            coordinates
        });
        let labels = held_out
            .labels
            .iter()
            .copied()
            .take(self.held_out.answers.len());
        let labels = labels.chain(self.own.iter().map(|own| own.label));
        let answers = activations.into_iter().flat_map(|of| &of.answers);
        let point = |(label, (answer, confidence)): (u8, &(u8, f32))| MapPoint {
            label,
            answer: *answer,
            confidence: *confidence,
        };
        DigitMap {
            id: self.id,
            layer: self.layer,
            source: self.images.source.clone(),
            images_id,
            images,
            points: labels.zip(answers).map(point).collect(),
            own: self.own.len(),
            coordinates: coordinates.collect(),
            explained,
            micros: self.micros,
        }
    }

    /// Where an image is on the map, and which images are nearest to it.
    pub fn neighborhood(
        &self,
        model: &Classifier,
        image: &Image,
        count: usize,
    ) -> Result<Neighborhood, Problem> {
        let Activations { values, .. } = model.activations(image.pixels())?;
        let trained = !self.training.answers.is_empty();
        let (among, images) = if trained {
            (&self.training, &self.images.training)
        } else {
            (&self.held_out, &self.images.held_out)
        };
        let near = nearest(&among.values, &values, count);
        Ok(Neighborhood {
            map: self.id,
            coordinates: self.components.coordinates(&values),
            nearest: near
                .into_iter()
                .filter_map(|(index, distance)| {
                    Some(NearImage {
                        labeled: labeled(images, index)?,
                        distance,
                    })
                })
                .collect(),
            among: among.answers.len(),
            trained,
        })
    }
}

impl Classifier {
    /// The layer whose values a map of this model shows, if it has this width.
    fn map_layer(&self, width: usize) -> MapLayer {
        match self.only_network() {
            Some(net) if net.model() == ModelKind::Linear => MapLayer::Pixels,
            Some(_) => MapLayer::Hidden { units: width },
            None => MapLayer::Logits,
        }
    }

    /// The same as [`Classifier::activations`] of the first images, as many as there is time for.
    fn activations_within(
        &self,
        pixels: &[u8],
        count: usize,
        limit: Duration,
        progress: &mut dyn Progress,
    ) -> Result<Activations, Problem> {
        let start = Instant::now();
        let mut all = Activations::default();
        let images = (pixels.len() / PIXELS).min(count);
        for first in (0..images).step_by(BATCH) {
            progress.report(first as f32 / images as f32)?;
            let end = images.min(first + BATCH);
            let batch = self.activations(&pixels[first * PIXELS..end * PIXELS])?;
            all.values.extend(batch.values);
            all.answers.extend(batch.answers);
            if start.elapsed() >= limit || all.values.len() >= MOST_NUMBERS {
                break;
            }
        }
        Ok(all)
    }

    /// What goes into the last layer for each of these images, 784 bytes each; the logits if that
    /// is not known.
    fn activations(&self, images: &[u8]) -> Result<Activations, Problem> {
        if images.is_empty() {
            return Ok(Activations::default());
        }
        let (values, logits) = if let Some(net) = self.only_network() {
            let compute = || {
                let (features, logits) = net.features_and_logits(images)?;
                Ok((
                    features.flatten_all()?.to_vec1::<f32>()?,
                    logits.flatten_all()?.to_vec1::<f32>()?,
                ))
            };
            compute().map_err(|error: candle_core::Error| ComputeError::from(error))?
        } else {
            let (Outputs { logits, .. }, _) = self.outputs(images).map_err(ComputeError::from)?;
            (logits.clone(), logits)
        };
        let classes = logits.len() / (images.len() / PIXELS).max(1);
        let answers = Scores::of_rows(&logits, classes, self.temperature()).map(|scores| {
            let probability = scores.probabilities.get(scores.digit).copied();
            (scores.digit as u8, finite(probability.unwrap_or_default()))
        });
        Ok(Activations {
            answers: answers.collect(),
            values: values.into_iter().map(finite).collect(),
        })
    }
}

/// The outputs of a network that has just diverged are not finite.
const fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}
