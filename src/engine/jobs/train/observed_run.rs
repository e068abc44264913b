//! A run while it trains.

use std::time::{Duration, Instant};

use super::super::JobContext;
use crate::hardware::BackgroundLoad;
use crate::infer::{Classifier, MapImages};
use crate::ink::{Image, PIXELS};
use crate::nn::{Net, parameter_count};
use crate::progress::{Cancelled, Progress};
use crate::protocol::{Command, EngineError, Event, JobEvent, JobProgress};
use crate::records::{
    Accuracy, Calibration, EpochRecord, InitializationReport, Intervention, LearningRateChange,
    ModelInfo, ModelRef, SingleStep, StepPoint, Telemetry,
};
use crate::run_config::{Classes, EvaluationSplit, RunConfig};
use crate::runs::CheckpointWriter;
use crate::train::{
    Checkpoint, EndRequest, HISTORY_BYTES, LearningProbe, RunObserver, RunOrigin, RunStart,
    StepRequest,
};

/// After this many steps the network has begun to learn, and drawings are recognized with its
/// weights.
const FIRST_STEPS: u32 = 10;
/// The time between two checkpoints within an epoch.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);
/// While its data is prepared, so many of its images are shown at a time, so often.
const IMAGES_AT_ONCE: usize = 20;
const IMAGES_INTERVAL: Duration = Duration::from_millis(100);

/// The run while it trains: reports what happens, and reacts to pause, resume and cancel.
pub(super) struct ObservedRun<'r, 'q, 'c> {
    pub context: &'r mut JobContext<'q, 'c>,
    pub config: &'r RunConfig,
    pub writer: &'r CheckpointWriter,
    /// Known once the data is.
    pub origin: Option<RunOrigin>,
    /// The classes of its data, once that is loaded.
    pub classes: Classes,
    pub now: Telemetry,
    /// Steps since the run was started or resumed.
    pub steps: u32,
    /// Classifies held-out images as it trains, if somebody watches; `None` also after that has
    /// failed.
    pub probe: Option<LearningProbe>,
    pub watched: bool,
    /// What was fitted after the last epoch that was completed; the weights of the steps since then
    /// are recognized with it too.
    pub calibration: Calibration,
    /// Measures the fraction of the CPU that other programs use while its data is prepared.
    pub others: BackgroundLoad,
    /// That fraction as it was last, from 0 to 1.
    pub background_load: f32,
    /// When images of its data were last sent.
    pub images_sent: Option<Instant>,
    /// Requests that reached it while it trains.
    pub steering: Steering,
    /// How it was asked to end while its data was prepared.
    pub end: Option<EndRequest>,
    /// True for a resumed run that has completed an epoch: stopped while its data is prepared, it
    /// becomes a model, which takes that data.
    pub has_model: bool,
}

/// Requests of whoever watches a run.
#[derive(Debug, Default)]
pub(super) struct Steering {
    paused: bool,
    /// The step to take though the run is paused.
    single_step: Option<StepRequest>,
    /// The factor on the learning rate.
    rate_factor: Option<f32>,
}

impl ObservedRun<'_, '_, '_> {
    /// Reports that all of its data is ready, and what was done to it. Opening the device and the
    /// first step follow.
    pub fn data_is_ready(&self, notes: &[String]) {
        self.context.queue.events.data_notes(self.context.id, notes);
        self.send(Event::Job {
            id: self.context.id,
            event: JobEvent::Progress(JobProgress::at(1.0, None)),
        });
    }

    /// Carries out the commands that came since the last time; returns only once the run is not
    /// paused any more.
    fn check(&mut self) -> Result<(), EndRequest> {
        let (id, queue) = (self.context.id, &mut self.context.queue);
        let steering = &mut self.steering;
        loop {
            let command = if steering.paused && steering.single_step.is_none() {
                Some(queue.wait())
            } else {
                queue.poll()
            };
            match command {
                None => return Ok(()),
                Some(Command::Pause(run)) if run == id && !steering.paused => {
                    steering.paused = true;
                    queue.events.flush(run, self.now);
                    queue.events.send(Event::Paused(run));
                }
                Some(Command::Resume(run)) if run == id && steering.paused => {
                    *steering = Steering {
                        rate_factor: steering.rate_factor,
                        ..Steering::default()
                    };
                    queue.events.send(Event::Resumed(run));
                }
                Some(Command::TakeStep { run, unit }) if run == id => {
                    steering.single_step = Some(StepRequest { unit });
                    if !steering.paused {
                        steering.paused = true;
                        queue.events.send(Event::Paused(run));
                    }
                }
                Some(Command::ScaleLearningRate { run, factor }) if run == id => {
                    steering.rate_factor = Some(factor);
                }
                Some(Command::Cancel(run)) if run == id => return Err(EndRequest::Stop),
                Some(command @ Command::Shutdown) => {
                    queue.requeue(command);
                    return Err(EndRequest::Stop);
                }
                Some(command @ Command::Interrupt) => {
                    queue.requeue(command);
                    return Err(EndRequest::Interrupt);
                }
                // Other jobs wait for nothing and cancel each other; a run is too dear for that.
                Some(Command::Submit { id, .. }) => queue.events.send(Event::Job {
                    id,
                    event: JobEvent::Failed(EngineError::Busy.into()),
                }),
                // What is meant for other jobs, which are over.
                Some(_) => {}
            }
        }
    }

    fn send(&self, event: Event) {
        self.context.queue.events.send(event);
    }

    /// Sends the steps so far, so that they are shown before what follows.
    fn flush(&mut self) {
        self.context.queue.events.flush(self.context.id, self.now);
    }

    /// Lets drawings be recognized with the run's weights, which stay the newest as it trains.
    fn offer_weights(&mut self, net: &Net, record: Option<&EpochRecord>) {
        let run = self.context.id;
        let info = ModelInfo {
            reference: ModelRef::Training(run),
            network: self.config.network(),
            parameters: parameter_count(self.config.network(), self.classes.len()),
            classes: self.classes.clone(),
            data: self.config.data.clone(),
            epochs: record.map_or(0, |record| record.epoch),
            accuracy: record.map(|record| self.validation_accuracy(record)),
        };
        let classifier = Classifier::new(
            net.clone(),
            self.config.device.resolved(),
            info,
            self.calibration,
        );
        let queue = &mut *self.context.queue;
        queue.recognizer.set_training(run, classifier, queue.events);
    }

    fn validation_accuracy(&self, record: &EpochRecord) -> Accuracy {
        let (data, split) = (self.config.data.clone(), EvaluationSplit::Validation);
        Accuracy {
            value: f64::from(record.validation_accuracy),
            images: None,
            data,
            split,
        }
    }

    /// Recognizes drawings with the run's weights from here on, unless another model was chosen.
    fn follow_weights(&mut self) {
        let queue = &mut *self.context.queue;
        queue.recognizer.follow_training(queue.events);
    }

    /// Reports what the network makes of the held-out images now.
    fn report_learning(&mut self, net: &Net) {
        let Some(probe) = &mut self.probe else { return };
        match probe.take(net, self.calibration.temperature, self.now.step) {
            Ok(snapshot) => self.send(Event::HeldOutSnapshot {
                run: self.context.id,
                snapshot,
            }),
            // The run matters more: it goes on without.
            Err(error) => {
                tracing::warn!(%error, "the held-out images cannot be classified");
                self.probe = None;
            }
        }
    }
}

impl Progress for ObservedRun<'_, '_, '_> {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        if let Some(load) = self.others.measure() {
            self.background_load = load;
        }
        let progress = JobProgress {
            fraction,
            background_load: self.background_load,
            ..JobProgress::default()
        };
        self.context.show_progress(progress);
        let Err(end) = self.check() else {
            return Ok(());
        };
        self.end = Some(end);
        if end == EndRequest::Stop && self.has_model {
            Ok(())
        } else {
            Err(Cancelled)
        }
    }

    fn images(&mut self, pixels: &[u8]) {
        let count = pixels.len() / PIXELS;
        if !self.watched
            || count == 0
            || self
                .images_sent
                .is_some_and(|sent| sent.elapsed() < IMAGES_INTERVAL)
        {
            return;
        }
        self.images_sent = Some(Instant::now());
        // Neighbors are of the same class in many data sets.
        let chosen = pixels
            .chunks_exact(PIXELS)
            .step_by(count.div_ceil(IMAGES_AT_ONCE));
        let images = chosen
            .filter_map(|pixels| Image::try_from(pixels).ok())
            .collect();
        self.send(Event::DataImages {
            run: self.context.id,
            images,
        });
    }
}

impl RunObserver for ObservedRun<'_, '_, '_> {
    fn prepare(&mut self, run: &RunStart<'_>) {
        let RunStart {
            plan,
            net,
            validation,
            train,
            before,
            curve,
            position,
        } = *run;
        let (run, folder) = (self.context.id, self.writer.folder().to_owned());
        self.classes = plan.classes.clone();
        self.send(Event::Started {
            run,
            plan: plan.clone(),
            before: before.to_vec(),
            curve: curve.to_vec(),
            position,
            folder,
        });
        self.offer_weights(net, before.last());
        // A resumed run has learned already; of a new one, whoever wants to may use the weights at
        // once.
        if position.total_steps() >= FIRST_STEPS.into() {
            self.follow_weights();
        }
        if self.watched {
            let probe = LearningProbe::new(validation, self.classes.len(), self.config.seed);
            self.send(Event::HeldOut {
                run: self.context.id,
                images: probe.images(),
            });
            self.probe = Some(probe);
            let images = MapImages::of_run(self.config.data.clone(), validation, train);
            let recognizer = &mut self.context.queue.recognizer;
            recognizer.set_map_images(self.context.id, images);
        }
    }

    fn initialized(&mut self, report: &InitializationReport) {
        self.send(Event::Initialized {
            run: self.context.id,
            report: report.clone(),
        });
    }

    fn on_micro_batch(&mut self, net: &Net) -> Result<(), EndRequest> {
        if self.steps > 0 && self.probe.as_ref().is_some_and(LearningProbe::is_due) {
            self.report_learning(net);
        }
        self.end.take().map_or_else(|| self.check(), Err)
    }

    fn rate_factor(&mut self) -> Option<f32> {
        self.steering.rate_factor.take()
    }

    fn rate_changed(&mut self, change: LearningRateChange) {
        self.flush();
        let run = self.context.id;
        self.send(Event::RateChanged { run, change });
    }

    fn step_request(&self) -> Option<StepRequest> {
        self.steering.single_step.clone()
    }

    fn single_step(&mut self, step: SingleStep) {
        self.steering.single_step = None;
        self.flush();
        let (run, step) = (self.context.id, Box::new(step));
        self.send(Event::StepTaken { run, step });
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        self.now = now;
        self.context.queue.events.step(self.context.id, point, now);
        self.steps += 1;
        if self.steps == FIRST_STEPS {
            self.follow_weights();
        }
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.flush();
        self.send(Event::Intervened {
            run: self.context.id,
            intervention,
        });
    }

    fn epoch(&mut self, record: &EpochRecord, net: &Net, calibration: Calibration) {
        self.calibration = calibration;
        self.flush();
        self.send(Event::Epoch {
            run: self.context.id,
            record: *record,
        });
        self.offer_weights(net, Some(record));
        // An epoch may have fewer steps than it takes otherwise.
        self.follow_weights();
        // The last thing shown of a run is what it has learned.
        if record.epoch == self.config.epochs {
            self.report_learning(net);
        }
    }

    fn checkpoint(&mut self, mut checkpoint: Checkpoint) {
        checkpoint.card.origin.clone_from(&self.origin);
        self.writer.write(checkpoint);
    }

    fn checkpoint_interval(&self) -> Duration {
        CHECKPOINT_INTERVAL
    }

    fn history_bytes(&self) -> u64 {
        HISTORY_BYTES
    }
}
