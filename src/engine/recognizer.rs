//! Recognizing drawings: with which model, on which device, and only the latest of those that wait.

use std::sync::Arc;

use super::digit_map::DigitMaps;
use super::handle::{EngineSettings, EventSink};
use super::inference_device::InferenceDevice;
use crate::infer::{Classifier, Classify, MapImages, read_candidates, read_number};
use crate::ink::{Ink, Steps, Writing};
use crate::problem::Problem;
use crate::protocol::{Answer, EngineError, Event, Question};
use crate::records::{DrawingAnswer, JobId, ModelRef};

pub(super) struct Recognizer {
    /// The model in use, on the CPU, unless one is being trained and followed.
    classifier: Option<Classifier>,
    pub device: InferenceDevice,
    maps: DigitMaps,
    /// The weights of the training run, as they are now.
    training: Option<(JobId, Classifier)>,
    /// True while the training run's weights are in use.
    following: bool,
    /// True once a person has chosen a model since the job began.
    chosen: bool,
    /// The model that a training run left, until its end was reported.
    trained: Option<Classifier>,
    /// The latest request that waits; one that still waits when another comes is forgotten.
    pub waiting: Option<(u64, Question)>,
}

impl Recognizer {
    pub fn new(settings: &EngineSettings, events: &EventSink) -> Self {
        let device = InferenceDevice::new(Arc::clone(&settings.devices));
        let mut recognizer = Self {
            classifier: None,
            device,
            maps: DigitMaps::new(settings.clone()),
            training: None,
            following: false,
            chosen: false,
            trained: None,
            waiting: None,
        };
        recognizer.use_model(&ModelRef::Starter, events);
        recognizer
    }

    pub fn read(&mut self, what: &Question, events: &EventSink) -> Result<Answer, Problem> {
        match what {
            Question::Drawing {
                ink,
                steps,
                details,
            } => {
                let prediction =
                    self.recognize(|model| model.classify_drawing(ink, steps), events)?;
                let mut explained = self.in_use()?.explain(prediction, (ink, steps), details)?;
                if details.nearest > 0 {
                    let image = &explained.prediction.image;
                    let count = usize::from(details.nearest);
                    explained.neighborhood =
                        self.maps.neighborhood(self.in_use()?, image, count)?;
                }
                Ok(Answer::Drawing(Box::new(explained)))
            }
            Question::Number { ink, steps, why } => {
                let writing = Writing::of_ink_with(ink, steps);
                let mut digits = self.recognize(|model| read_number(model, &writing), events)?;
                if let Some(why) = why {
                    self.in_use()?.explain_number(&mut digits, &writing, *why)?;
                }
                Ok(Answer::Number(digits))
            }
            Question::Candidates { candidates, why } => {
                let mut digits =
                    self.recognize(|model| read_candidates(model, candidates), events)?;
                if let Some(why) = why {
                    self.in_use()?
                        .explain_candidates(&mut digits, candidates, *why)?;
                }
                Ok(Answer::Number(digits))
            }
            Question::Drawings(drawings) => self.classify_all(drawings).map(Answer::Drawings),
            Question::Map(spec) => {
                let is_training = self.followed().is_some();
                let model = self.in_use()?.clone();
                let map = self.maps.map(&model, is_training, spec)?;
                Ok(Answer::Map(map.map(Box::new)))
            }
        }
    }

    /// The training run's weights, while they are in use.
    fn followed(&self) -> Option<&Classifier> {
        self.training
            .as_ref()
            .filter(|_| self.following)
            .map(|(_, classifier)| classifier)
    }

    /// The model in use, on the device where it is.
    fn in_use(&self) -> Result<&Classifier, EngineError> {
        self.followed()
            .or(self.classifier.as_ref())
            .ok_or(EngineError::NoSuchRun)
    }

    /// Does this with the model in use.
    fn recognize<T>(
        &mut self,
        work: impl Fn(&dyn Classify) -> Result<T, Problem>,
        events: &EventSink,
    ) -> Result<T, Problem> {
        let (done, report) = match (self.followed(), &self.classifier) {
            (Some(training), _) => (work(training), None),
            (None, Some(classifier)) => self.device.classify(classifier, work),
            (None, None) => return Err(EngineError::NoSuchRun.into()),
        };
        if let Some(report) = report {
            events.send(Event::InferenceDevice(report));
        }
        done
    }

    /// The prediction of the model in use for each of these drawings, on the device where it is.
    fn classify_all(&self, drawings: &[Ink]) -> Result<Vec<DrawingAnswer>, Problem> {
        let classifier = self.in_use()?;
        let answer = |ink: &Ink| {
            let prediction = classifier.classify_drawing(ink, &Steps::ALL)?;
            Ok(DrawingAnswer {
                digit: prediction.digit,
                confidence: prediction.confidence,
                is_digit: prediction.is_digit,
            })
        };
        drawings.iter().map(answer).collect()
    }

    /// Compares devices if that is due or running; a report if it has come to an end.
    pub fn poll_devices(&mut self, events: &EventSink) {
        if let Some(classifier) = &self.classifier
            && let Some(report) = self.device.poll(classifier)
        {
            events.send(Event::InferenceDevice(report));
        }
    }

    /// A job begins: the choice of a model from here on is made while it runs.
    pub const fn job_started(&mut self) {
        self.chosen = false;
    }

    /// Loads a model and uses it; one that cannot be loaded leaves the present one in use.
    pub fn use_model(&mut self, model: &ModelRef, events: &EventSink) {
        if let (ModelRef::Training(run), Some((training, classifier))) = (model, &self.training)
            && run == training
        {
            (self.following, self.chosen) = (true, true);
            return events.send(Event::ModelInUse(classifier.info().clone()));
        }
        match Classifier::load(model).and_then(|loaded| loaded.ok_or(EngineError::NoSuchRun.into()))
        {
            Ok(classifier) => {
                events.send(Event::ModelInUse(classifier.info().clone()));
                self.classifier = Some(classifier);
                self.device.restart();
                (self.following, self.chosen) = (false, true);
            }
            Err(problem) => events.send(Event::Failed(problem)),
        }
    }

    /// Takes a training run's newest weights, which are used from [`Recognizer::follow_training`]
    /// on.
    pub fn set_training(&mut self, run: JobId, classifier: Classifier, events: &EventSink) {
        if self.following {
            events.send(Event::ModelInUse(classifier.info().clone()));
        }
        self.training = Some((run, classifier));
    }

    /// The images of this run for the map.
    pub fn set_map_images(&mut self, run: JobId, images: MapImages) {
        self.maps.set_run(ModelRef::Training(run), images);
    }

    /// Uses the training run's weights, unless a person has chosen a model since it began.
    pub fn follow_training(&mut self, events: &EventSink) {
        if !self.following
            && !self.chosen
            && let Some((_, classifier)) = &self.training
        {
            self.following = true;
            events.send(Event::ModelInUse(classifier.info().clone()));
        }
    }

    /// The training run left this model; [`Recognizer::job_ended`] puts it to use.
    pub fn set_trained(&mut self, trained: Option<Classifier>) {
        if let Some(trained) = &trained {
            self.maps.run_ended(&trained.info().reference);
        }
        self.trained = trained;
    }

    /// If a training run's weights were in use, the model that it left takes their place, or the
    /// model that was in use before.
    pub fn job_ended(&mut self, events: &EventSink) {
        self.training = None;
        let trained = self.trained.take();
        if !std::mem::take(&mut self.following) {
            return;
        }
        if trained.is_some() {
            self.classifier = trained;
            self.device.restart();
        }
        if let Some(classifier) = &self.classifier {
            events.send(Event::ModelInUse(classifier.info().clone()));
        }
    }
}
