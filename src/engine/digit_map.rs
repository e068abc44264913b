//! Maps of digits. A run is mapped between its steps, in little time; a model that is no longer
//! trained on a separate thread, which reads the images first.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::handle::EngineSettings;
use super::jobs::saved_model::{SavedModel, may_be_read};
use crate::data::{DataError, ValidationSplit, load, load_for_evaluation};
use crate::infer::{Classifier, Effort, MapImages, MappedImages};
use crate::ink::Image;
use crate::nn::ComputeError;
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress, Unwatched};
use crate::protocol::EngineError;
use crate::records::{DigitMap, LabeledImage, MapSource, MapSpec, ModelRef, Neighborhood};
use crate::run_config::{DataSource, DataSpec, EvaluationSplit};
use crate::system::threads;

/// How long the images of the first map of a run take, about, and those that are near to drawings;
/// later maps have as many.
const BETWEEN_STEPS: Duration = Duration::from_millis(45);
/// The same for a stored model.
const ASIDE: Duration = Duration::from_millis(1_500);

pub(super) struct DigitMaps {
    settings: EngineSettings,
    /// The images of the run in progress, or of the last one, and its model.
    of_run: Option<(ModelRef, Arc<MapImages>)>,
    state: Option<(ModelRef, State)>,
    last_id: u64,
}

enum State {
    /// Another thread computes it, for as long as the second part is here.
    Computing(Receiver<Result<MappedImages, Problem>>, Arc<()>),
    Done(Box<MappedImages>),
}

impl DigitMaps {
    pub const fn new(settings: EngineSettings) -> Self {
        Self {
            settings,
            of_run: None,
            state: None,
            last_id: 0,
        }
    }

    /// The images of a run that begins.
    pub fn set_run(&mut self, model: ModelRef, images: MapImages) {
        self.of_run = Some((model, Arc::new(images)));
    }

    /// The run's model is called this from now on.
    pub fn run_ended(&mut self, model: &ModelRef) {
        if let Some((known, _)) = &mut self.of_run {
            known.clone_from(model);
            self.state = None;
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The map of a model; `None` while it is computed. One that is being trained is asked now.
    pub fn map(
        &mut self,
        model: &Classifier,
        is_training: bool,
        spec: &MapSpec,
    ) -> Result<Option<DigitMap>, Problem> {
        let (id, reference) = (self.next_id(), &model.info().reference);
        let state = self.state.take().filter(|(known, _)| known == reference);
        let state = match state.map(|(_, state)| state) {
            before if is_training => {
                let effort = match &before {
                    Some(State::Done(mapped)) => Effort::Images(mapped.counts()),
                    _ => Effort::Time(BETWEEN_STEPS),
                };
                let images = self.images_of_run(reference).unwrap_or_default();
                let own = spec.own.clone();
                let mapped = MappedImages::new(id, model, images, own, effort, &mut Unwatched)?;
                State::Done(Box::new(mapped))
            }
            None => self.compute(id, model.clone(), spec.own.clone())?,
            Some(State::Computing(result, alive)) => match result.try_recv() {
                Ok(Ok(mapped)) => State::Done(Box::new(mapped)),
                Err(TryRecvError::Empty) => State::Computing(result, alive),
                Ok(Err(problem)) => return Err(problem),
                // The thread panicked, which was logged.
                Err(TryRecvError::Disconnected) => {
                    return Err(ComputeError::failed(&"the map could not be computed").into());
                }
            },
            Some(state) => state,
        };
        let state = match state {
            State::Done(mapped) if !mapped.has_own(&spec.own) => {
                State::Done(Box::new(mapped.with_own(id, model, spec.own.clone())?))
            }
            state => state,
        };
        let (_, state) = self.state.insert((reference.clone(), state));
        Ok(match state {
            State::Done(mapped) => Some(mapped.answer(spec)),
            State::Computing(..) => None,
        })
    }

    /// Where an image is on the last map of this model, if there is one.
    pub fn neighborhood(
        &self,
        model: &Classifier,
        image: &Image,
        count: usize,
    ) -> Result<Option<Neighborhood>, Problem> {
        match &self.state {
            Some((known, State::Done(mapped))) if *known == model.info().reference => {
                mapped.neighborhood(model, image, count).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn images_of_run(&self, model: &ModelRef) -> Option<Arc<MapImages>> {
        let (_, images) = self.of_run.as_ref().filter(|(known, _)| known == model)?;
        Some(Arc::clone(images))
    }

    /// The model is no longer trained, so both threads can use its weights.
    fn compute(
        &self,
        id: u64,
        model: Classifier,
        own: Vec<LabeledImage>,
    ) -> Result<State, Problem> {
        let known = self.images_of_run(&model.info().reference);
        let settings = self.settings.clone();
        let (sender, result) = channel();
        let alive = Arc::new(());
        let wanted = Arc::downgrade(&alive);
        let work = move || {
            threads::below_normal();
            let mut progress = |_: f32| {
                if wanted.strong_count() > 0 {
                    Ok(())
                } else {
                    Err(Cancelled)
                }
            };
            let compute = || {
                let images = match known {
                    Some(images) => images,
                    None => Arc::new(images_of(
                        &settings,
                        &model.info().reference,
                        &mut progress,
                    )?),
                };
                let effort = Effort::Time(ASIDE);
                MappedImages::new(id, &model, images, own, effort, &mut progress)
            };
            // Nobody receives the map of a model that was replaced.
            let _ = sender.send(compute());
        };
        threads::spawn("inkling-map", work).map_err(|error| ComputeError::no_thread(&error))?;
        Ok(State::Computing(result, alive))
    }
}

/// Held-out images for a stored model, and images that it was trained on if both are known: it
/// has to be trained here, from its beginning, on data that is here.
fn images_of(
    settings: &EngineSettings,
    model: &ModelRef,
    progress: &mut dyn Progress,
) -> Result<MapImages, Problem> {
    let first = match model {
        ModelRef::Ensemble(ensemble) => ModelRef::File(
            ensemble
                .models
                .first()
                .ok_or(EngineError::NoSuchRun)?
                .clone(),
        ),
        model => model.clone(),
    };
    let SavedModel { file, run } = SavedModel::load(&first)?;
    let (data, config, classes) = (&file.card.data, &file.card.config, &file.card.labels);
    let is_public = |source: &DataSource| !matches!(source, DataSource::Mine | DataSource::Unknown);
    let readable =
        data.sources().iter().all(is_public) && may_be_read(settings, data, run.as_ref());
    let was_trained_here = *model == ModelRef::Starter
        || *model == first && run.is_some_and(|run| run.imported.is_none());
    if readable && was_trained_here && config.initial_weights.is_none() {
        match load(data, &settings.data_folders, progress) {
            Ok(set) if classes.accept(&set.classes) => {
                let split = ValidationSplit::of_run(&set.train, config);
                let trained = (&set.train, &split.train[..]);
                return Ok(MapImages::of_run(data.clone(), &split.validation, trained));
            }
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "a map has other images"),
        }
    }
    // No model was trained on test images.
    let tested = data.sources().first().filter(|_| readable).cloned();
    for source in tested.into_iter().chain([DataSource::Builtin]) {
        let spec = DataSpec::single(source);
        let (split, folders) = (Some(EvaluationSplit::Test), &settings.data_folders);
        match load_for_evaluation(&spec, split, config, folders, progress) {
            Ok(set) if !set.images.is_empty() && classes.accept(&set.classes) => {
                let source = MapSource {
                    data: set.data,
                    split: set.split,
                };
                return Ok(MapImages::held_out(source, &set.images));
            }
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "a map has other images"),
        }
    }
    Ok(MapImages::default())
}
