//! Runs, pauses, stops, readings and measurements, as a caller sees them.

use std::path::PathBuf;
use std::sync::Arc;

use inkling::data::my_digits::{Edit, KeptDrawing};
use inkling::data::{Fingerprint, MyDigits, load};
use inkling::engine::{Devices, EngineHandle, EngineSettings, RunsTarget, this_machine};
use inkling::infer::{Classify, ComparisonError};
use inkling::ink::{Image, Ink, Steps};
use inkling::problem::{Code, Problem};
use inkling::progress::Unwatched;
use inkling::protocol::{
    Answer, Command, EngineError, Event, ExportReport, Job, JobEvent, JobResult, Question,
};
use inkling::records::benchmark::Effort;
use inkling::records::{
    BatchSizeSpec, ComparisonSpec, DigitMap, EvaluationSpec, ExportSpec, ImportFinding, ImportSpec,
    Inspection, JobId, MapSpec, ModelRef, Neighborhood, Prediction, PredictionDetails, Replace,
    Rescue, RunPosition, RunSummary, SingleStep, SplitEvaluation, UnitName, UnitSelection,
};
use inkling::run_config::{
    DataSource, DataSpec, EvaluationSplit, ExportFormat, ModelKind, Preset, RunConfig, WeightFormat,
};
use inkling::runs::{Checkpoints, FinishedRun, RunError};
use inkling::train::{RunOrigin, RunPlaces};
use tempfile::TempDir;

use super::{drawing_read, read_stroke, settings, until, wait};
use crate::jobs::{cancelled, failure, finished, has_ended, result, submit, train};
use crate::support::{opened, write_idx_set};
use crate::synthetic;
use crate::train::watcher::Watcher;

pub struct Bench {
    pub handle: EngineHandle,
    pub config: RunConfig,
    folder: TempDir,
}

/// An engine, and a configuration of `steps` steps an epoch on a small set.
fn bench(steps: usize, epochs: u32) -> Bench {
    bench_with(steps, epochs, this_machine())
}

/// The same on these devices.
pub fn bench_with(steps: usize, epochs: u32, devices: Arc<dyn Devices>) -> Bench {
    let folder = TempDir::new().unwrap();
    let set = folder.path().join("set");
    write_idx_set(&set, steps * 60 * 12 / 11, 50);
    let settings = settings(folder.path(), devices);
    let config = RunConfig {
        data: DataSpec::single(DataSource::Path(set)),
        model: ModelKind::Mlp,
        epochs,
        batch_size: 60,
        threads: Some(1),
        learning_rate: 1e-3,
        ..RunConfig::default()
    };
    let bench = Bench {
        handle: EngineHandle::spawn(settings, |_| {}),
        config,
        folder,
    };
    assert!(
        matches!(bench.handle.recv(), Some(Event::ModelInUse(model)) if model.reference == ModelRef::Starter)
    );
    bench
}

impl Bench {
    pub fn start(&self, run: u64) -> JobId {
        self.handle.send(train(run, &self.config, None));
        JobId(run)
    }

    /// The first event that `pick` takes; everything before it is dropped.
    pub fn until<T>(&self, pick: impl FnMut(Event) -> Option<T>) -> T {
        until(&self.handle, pick)
    }

    fn wait(&self, is_it: impl FnMut(&Event) -> bool) {
        wait(&self.handle, is_it);
    }

    /// Cancels a job and waits for its end.
    fn cancel(&self, id: JobId) {
        self.handle.send(Command::Cancel(id));
        self.wait(has_ended);
    }

    /// Cancels a job, which then has no result.
    fn cancel_at_once(&self, id: JobId) {
        self.handle.send(Command::Cancel(id));
        self.wait(|event| *event == cancelled(id));
    }

    /// What comes of this job.
    fn result(&self, id: u64, job: Job) -> JobResult {
        self.handle.send(submit(id, job));
        self.until(|event| result(event, id))
    }

    /// Why this job cannot be done.
    fn refused(&self, id: u64, job: Job) -> Problem {
        self.handle.send(submit(id, job));
        self.failure(id)
    }

    fn failure(&self, id: u64) -> Problem {
        self.until(|event| failure(event, id))
    }

    fn evaluated(&self, id: u64, spec: EvaluationSpec) -> SplitEvaluation {
        match self.result(id, Job::Evaluate(spec)) {
            JobResult::Evaluate(report) => report.measured,
            other => panic!("{other:?}"),
        }
    }

    /// Where the run can be resumed that was interrupted.
    fn interrupted(&self) -> PathBuf {
        match self.failure(1).code {
            Code::Interrupted {
                checkpoint: Some(checkpoint),
            } => checkpoint,
            other => panic!("{other:?}"),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same with a new engine.
    fn restarted(self, settings: EngineSettings) -> Self {
        Self {
            handle: EngineHandle::spawn(settings, |_| {}),
            ..self
        }
    }

    fn settings(&self) -> EngineSettings {
        settings(self.folder.path(), this_machine())
    }

    fn assert_nothing_is_kept(&self) {
        assert_eq!(self.runs_kept(), 0);
        let checkpoints = Checkpoints::new(self.at("checkpoints"));
        assert!(checkpoints.list().is_empty());
    }

    fn finished(&self) -> RunSummary {
        self.until(finished)
    }

    fn exported(&self, id: u64, job: Job) -> ExportReport {
        match self.result(id, job) {
            JobResult::Export(report) => report,
            other => panic!("{other:?}"),
        }
    }

    fn runs_kept(&self) -> usize {
        std::fs::read_dir(self.at("runs")).map_or(0, Iterator::count)
    }
}

fn export(model: ModelRef, spec: &ExportSpec, to: Option<&PathBuf>) -> Job {
    Job::Export {
        model,
        spec: spec.clone(),
        to: to.cloned(),
        replace: Replace::Nothing,
    }
}

fn is_progress(event: &Event, wanted: u64) -> bool {
    matches!(event, Event::Job { id, event: JobEvent::Progress(_) } if id.0 == wanted)
}

#[test]
fn a_run_reports_every_step_and_leaves_a_folder_that_reads() {
    let bench = bench(8, 2);
    bench.start(1);
    let (mut steps, mut epochs, mut plan) = (Vec::new(), 0, None);
    let summary = bench.until(|event| match event {
        Event::Started { plan: started, .. } => {
            plan = Some(started);
            None
        }
        Event::Steps { steps: points, .. } => {
            steps.extend(points.into_iter().map(|point| point.step));
            None
        }
        Event::Epoch { .. } => {
            epochs += 1;
            None
        }
        event => finished(event),
    });
    assert_eq!(steps, (1..=16).collect::<Vec<_>>());
    assert_eq!(epochs, 2);
    assert_eq!(plan.as_ref(), Some(&summary.plan));
    assert!(!summary.stopped);
    assert_eq!(
        summary.test.as_ref().map(|test| test.evaluation.images),
        Some(50)
    );
    assert!(summary.model_path.is_file());

    // Whoever followed the run reads with what it left.
    let left = bench.until(|event| match event {
        Event::ModelInUse(model) => Some(model),
        _ => None,
    });
    assert_eq!(left.reference, ModelRef::File(summary.model_path.clone()));
    bench.handle.send(read_stroke(7));
    let (request, prediction) = bench.until(drawing_read);
    assert_eq!((request, &prediction.model), (7, &left));
    assert!((prediction.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn a_paused_run_holds_still_reads_drawings_and_goes_on() {
    // Paused in its first epoch: a checkpoint of an epoch before would be reported from its own
    // thread, at any time.
    let bench = bench(400, 30);
    let run = bench.start(1);
    bench.wait(|event| matches!(event, Event::Steps { .. }));
    bench.handle.send(Command::Pause(run));
    bench.wait(|event| *event == Event::Paused(run));
    for request in 1..=20 {
        bench.handle.send(read_stroke(request));
        let event = bench.handle.recv();
        assert!(
            matches!(event, Some(Event::Read { request: answered, .. }) if answered == request),
            "{event:?}"
        );
    }
    bench.handle.send(Command::Resume(run));
    assert_eq!(bench.handle.recv(), Some(Event::Resumed(run)));
    bench.wait(|event| matches!(event, Event::Steps { .. }));
    bench.cancel(run);
}

/// Takes a step and gives it; nothing else but its figures may come before it.
fn take_step(bench: &Bench, run: JobId, unit: Option<UnitName>) -> SingleStep {
    bench.handle.send(Command::TakeStep { run, unit });
    bench.until(|event| match event {
        Event::StepTaken { step, .. } => Some(*step),
        Event::Resumed(_) => panic!("it goes on by itself"),
        _ => None,
    })
}

#[test]
fn a_run_takes_one_step_at_a_time_and_its_learning_rate_can_be_moved() {
    let bench = bench(400, 30);
    let run = bench.start(1);
    bench.wait(|event| matches!(event, Event::Steps { .. }));
    let unit = || {
        Some(UnitName {
            layer: "fc1".to_owned(),
            unit: 3,
        })
    };
    // A run that trains is held after the step.
    let mut last = take_step(&bench, run, unit());
    for factor in [1.0, 0.5, 0.5] {
        bench
            .handle
            .send(Command::ScaleLearningRate { run, factor });
        let step = take_step(&bench, run, unit());
        assert_eq!(step.step, last.step + 1);
        assert_eq!(
            step.unit.as_ref().unwrap().weights.before,
            last.unit.as_ref().unwrap().weights.after
        );
        last = step;
    }
    bench.handle.send(read_stroke(1));
    let event = bench.handle.recv();
    assert!(matches!(event, Some(Event::Read { .. })), "{event:?}");
    let last = take_step(&bench, run, None);
    assert_eq!(last.unit, None);
    bench.handle.send(Command::Resume(run));
    bench.wait(|event| *event == Event::Resumed(run));
    let steps = bench.until(|event| match event {
        Event::Steps { steps, .. } => Some(steps),
        _ => None,
    });
    assert_eq!(steps[0].step, last.step + 1);
    bench.cancel(run);
}

#[test]
fn stopping_keeps_completed_epochs_and_nothing_less() {
    let early = bench(200, 3);
    let run = early.start(1);
    early.wait(|event| matches!(event, Event::Started { .. }));
    early.handle.send(Command::Cancel(run));
    early.until(|event| match event {
        Event::Job {
            id,
            event: JobEvent::Cancelled,
        } => {
            assert_eq!(id, run);
            Some(())
        }
        event => finished(event).map(|_| panic!("no epoch was complete")),
    });
    assert_eq!(early.runs_kept(), 0);

    let late = bench(20, 500);
    let run = late.start(1);
    late.wait(|event| matches!(event, Event::Epoch { .. }));
    late.handle.send(Command::Cancel(run));
    let summary = late.finished();
    assert!(summary.stopped && !summary.epochs.is_empty() && summary.epochs.len() < 500);
    assert!(
        summary.test.is_some(),
        "a model that is kept is measured, also one of a run that was stopped"
    );
    assert_eq!(late.runs_kept(), 1);
}

#[test]
fn a_run_of_one_epoch_recognizes_drawings_from_its_first_steps() {
    let bench = bench(60, 1);
    bench.start(1);
    bench.until(|event| match event {
        Event::ModelInUse(model) => (model.reference == ModelRef::Training(JobId(1))).then_some(()),
        Event::Epoch { .. } => panic!("an epoch was over before"),
        _ => None,
    });
    bench.finished();
}

#[test]
fn a_run_keeps_its_network_along_the_way_to_be_used_and_looked_at() {
    let bench = bench(8, 2);
    bench.start(1);
    let run = bench.finished();
    let steps: Vec<u64> = run.snapshots.iter().map(|record| record.step).collect();
    assert_eq!(steps, [0, 1, 2, 5, 8, 10]);
    let [early, late] = [2, 10].map(|step| ModelRef::File(run.snapshot_path(step)));
    bench.handle.send(Command::UseModel(early.clone()));
    let in_use = |reference: &ModelRef| {
        bench.until(|event| match event {
            Event::ModelInUse(model) if model.reference == *reference => Some(model.epochs),
            Event::Failed(problem) => panic!("{problem}"),
            _ => None,
        })
    };
    assert_eq!(in_use(&early), 0);
    bench.handle.send(Command::UseModel(late.clone()));
    assert_eq!(in_use(&late), 1);
    let look = |id, model| {
        let images = vec![Image::BLANK; 3];
        match bench.result(id, Job::LookAt { model, images }) {
            JobResult::LookAt(look) => look,
            other => panic!("{other:?}"),
        }
    };
    let [first, last] = [run.snapshot_path(0), run.model_path.clone()];
    let (first, last) = (look(2, first), look(3, last));
    assert_eq!((first.digits.len(), last.digits.len()), (3, 3));
    assert!(first.first_layer.is_some() && first.first_layer != last.first_layer);
    // A damaged one is refused, and the one in use stays.
    let damaged = run.snapshot_path(5);
    std::fs::write(&damaged, &std::fs::read(&damaged).unwrap()[..1000]).unwrap();
    bench
        .handle
        .send(Command::UseModel(ModelRef::File(damaged)));
    let problem = bench.until(|event| match event {
        Event::Failed(problem) => Some(problem),
        _ => None,
    });
    assert_eq!(problem.code, Code::Model);
    let (prediction, _) = look_inside(&bench, 1);
    assert_eq!(prediction.model.reference, late);
}

/// Looks into the model in use, with a stroke on the canvas.
fn look_inside(bench: &Bench, request: u64) -> (Prediction, Inspection) {
    let ink = Ink {
        strokes: vec![vec![[10.0, 0.0], [10.0, 30.0]]],
        pen: None,
    };
    bench.handle.send(Command::Read {
        request,
        what: Question::Drawing {
            ink,
            steps: Steps::ALL,
            details: PredictionDetails {
                inspection: true,
                look: Some(UnitSelection {
                    layer: 1,
                    unit: 2,
                    place: None,
                }),
                ..PredictionDetails::default()
            },
        },
    });
    bench.until(|event| match event {
        Event::Read {
            request: answered,
            answer,
        } if answered == request => match answer.unwrap() {
            Answer::Drawing(read) => Some((read.prediction, read.inspection.unwrap())),
            other => panic!("{other:?}"),
        },
        _ => None,
    })
}

#[test]
fn the_model_in_use_is_looked_into_also_while_it_is_trained() {
    let bench = bench(60, 50);
    let (prediction, inspection) = look_inside(&bench, 1);
    let logits = &inspection.layers.last().unwrap().values;
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    assert_eq!(logits[usize::from(prediction.digit)], largest);
    assert_eq!(inspection.layers[1].name, "conv1");
    assert_eq!(inspection.unit.unwrap().look.unit, 2);
    bench.start(1);
    bench.until(|event| match event {
        Event::ModelInUse(model) => (model.reference == ModelRef::Training(JobId(1))).then_some(()),
        _ => None,
    });
    let (_, of_run) = look_inside(&bench, 2);
    assert_eq!(of_run.layers[2].name, "fc1", "an MLP is trained");
    bench.cancel(JobId(1));
}

/// The map of the model in use, asked for until it is there.
fn map_of_digits(bench: &Bench, first_request: u64) -> DigitMap {
    for request in first_request.. {
        bench.handle.send(Command::Read {
            request,
            what: Question::Map(MapSpec {
                components: 2,
                ..MapSpec::default()
            }),
        });
        let answer = bench.until(|event| match event {
            Event::Read {
                request: answered,
                answer,
            } if answered == request => Some(answer.unwrap()),
            _ => None,
        });
        match answer {
            Answer::Map(Some(map)) => return *map,
            Answer::Map(None) => std::thread::sleep(std::time::Duration::from_millis(5)),
            other => panic!("{other:?}"),
        }
    }
    unreachable!()
}

/// What is nearest to a stroke on the canvas, once there is a map.
fn nearest_to_a_stroke(bench: &Bench, request: u64) -> Option<Neighborhood> {
    let Command::Read { what, .. } = read_stroke(request) else {
        unreachable!();
    };
    let Question::Drawing { ink, steps, .. } = what else {
        unreachable!();
    };
    let details = PredictionDetails {
        nearest: 6,
        ..PredictionDetails::default()
    };
    let what = Question::Drawing {
        ink,
        steps,
        details,
    };
    bench.handle.send(Command::Read { request, what });
    bench.until(|event| match event {
        Event::Read {
            request: answered,
            answer,
        } if answered == request => match answer.unwrap() {
            Answer::Drawing(read) => Some(read.neighborhood),
            other => panic!("{other:?}"),
        },
        _ => None,
    })
}

#[test]
fn the_map_moves_while_a_model_is_trained_and_stays_when_it_is_saved() {
    let bench = bench(60, 50);
    let run = bench.start(1);
    bench.wait(|event| {
        matches!(event, Event::ModelInUse(model) if model.reference == ModelRef::Training(run))
    });
    assert_eq!(
        nearest_to_a_stroke(&bench, 50),
        None,
        "nobody asked for a map"
    );
    let first = map_of_digits(&bench, 100);
    let source = first.source.clone().unwrap();
    assert_eq!(
        (source.data, source.split),
        (bench.config.data.clone(), EvaluationSplit::Validation)
    );
    assert!(first.points.len() >= 250 && first.own == 0);
    let found = nearest_to_a_stroke(&bench, 51).unwrap();
    assert!(found.map == first.id && found.trained && found.nearest.len() == 6);
    let later = map_of_digits(&bench, 200);
    assert_eq!(
        (first.images_id, first.points.len()),
        (later.images_id, later.points.len())
    );
    assert_ne!(first.coordinates, later.coordinates);
    bench.wait(|event| matches!(event, Event::Epoch { .. }));
    bench.handle.send(Command::Cancel(run));
    bench.finished();
    bench.wait(|event| {
        matches!(event, Event::ModelInUse(model) if matches!(model.reference, ModelRef::File(_)))
    });
    let saved = map_of_digits(&bench, 300);
    assert_eq!(
        saved.images_id, later.images_id,
        "the run's images, not read again"
    );
    let again = map_of_digits(&bench, 100_000);
    assert_eq!(
        (saved.id, &saved.coordinates),
        (again.id, &again.coordinates)
    );
    assert_eq!(nearest_to_a_stroke(&bench, 52).unwrap().map, saved.id);
}

#[test]
fn a_model_chosen_during_a_run_stays_in_use() {
    let bench = bench(60, 50);
    bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    bench.handle.send(Command::UseModel(ModelRef::Starter));
    bench.wait(
        |event| matches!(event, Event::ModelInUse(model) if model.reference == ModelRef::Starter),
    );
    let mut epochs = 0;
    bench.until(|event| match event {
        Event::ModelInUse(model) => panic!("{model:?}"),
        event => {
            epochs += u32::from(matches!(event, Event::Epoch { .. }));
            (epochs == 3).then_some(())
        }
    });
    bench.handle.send(Command::Cancel(JobId(1)));
    bench.finished();
}

#[test]
fn a_run_shows_what_it_makes_of_held_out_images() {
    let chosen: Vec<_> = [1, 2]
        .map(|_| {
            let bench = bench(40, 2);
            bench.start(1);
            let (mut images, mut last, mut layer) = (Vec::new(), None, None);
            let summary = bench.until(|event| match event {
                Event::HeldOut {
                    run: JobId(1),
                    images: chosen,
                } => {
                    assert!(images.is_empty() && !chosen.is_empty());
                    images = chosen;
                    None
                }
                Event::HeldOutSnapshot {
                    run: JobId(1),
                    mut snapshot,
                } => {
                    layer = snapshot.first_layer.take().or(layer.take());
                    last = Some(snapshot);
                    None
                }
                event => finished(event),
            });
            let last = last.expect("the end of the last epoch is shown");
            assert_eq!(last.step, summary.plan.total_steps);
            assert_eq!(last.answers.len(), images.len());
            assert_eq!(
                layer.map(|layer| (layer.width, layer.height, layer.images.len())),
                Some((28, 28, 64))
            );
            // The model that was saved answers the same.
            let model = opened(&summary.model_path);
            for (image, answer) in images.iter().zip(&last.answers) {
                let prediction = model.classify(image.image.clone()).unwrap();
                assert_eq!(prediction.digit, answer.digit);
                assert!((prediction.confidence - answer.probability).abs() < 1e-4);
            }
            images
        })
        .into();
    assert_eq!(chosen[0], chosen[1], "the same seed, the same images");
}

#[test]
fn images_of_the_data_are_shown_before_a_run_starts_and_the_progress_goes_to_the_end() {
    let bench = bench(40, 2);
    bench.start(1);
    let (mut images, mut fraction) = (0, 0.0);
    bench.until(|event| match event {
        Event::DataImages {
            run: JobId(1),
            images: shown,
        } => {
            assert!((1..=20).contains(&shown.len()));
            images += shown.len();
            None
        }
        Event::Job {
            id: JobId(1),
            event: JobEvent::Progress(progress),
        } => {
            fraction = progress.fraction;
            None
        }
        event => matches!(event, Event::Started { .. }).then_some(()),
    });
    assert!(images > 0);
    assert_eq!(fraction, 1.0, "the last thing that is reported of the data");
    bench.handle.send(Command::Cancel(JobId(1)));
    bench.wait(|event| {
        matches!(
            event,
            Event::Job {
                event: JobEvent::Done(_) | JobEvent::Cancelled,
                ..
            }
        )
    });
}

#[test]
fn where_nobody_watches_held_out_images_take_no_time() {
    let bench = bench(8, 1);
    let settings = EngineSettings {
        reports_learning: false,
        ..bench.settings()
    };
    let bench = bench.restarted(settings);
    bench.start(1);
    bench.until(|event| {
        assert!(!matches!(
            event,
            Event::DataImages { .. } | Event::HeldOut { .. } | Event::HeldOutSnapshot { .. }
        ));
        finished(event)
    });
}

#[test]
fn the_latest_of_many_drawings_is_read() {
    let bench = bench(60, 50);
    bench.start(1);
    bench.wait(|event| matches!(event, Event::Epoch { .. }));
    for request in 1..=2000 {
        bench.handle.send(read_stroke(request));
    }
    let mut read = 0;
    let last = bench.until(|event| {
        let (request, prediction) = drawing_read(event)?;
        read += 1;
        (request == 2000).then_some(prediction)
    });
    assert!(read < 2000, "drawings that were overtaken are skipped");
    assert_eq!(
        last.model.reference,
        ModelRef::Training(JobId(1)),
        "the newest weights are in use"
    );
    bench.handle.send(Command::Cancel(JobId(1)));
    bench.finished();
}

#[test]
fn a_second_run_and_a_measurement_are_refused_while_one_is_under_way() {
    let bench = bench(60, 50);
    let run = bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    bench.start(2);
    bench.handle.send(submit(
        3,
        Job::Evaluate(EvaluationSpec::new(
            ModelRef::Starter,
            bench.config.data.clone(),
        )),
    ));
    for expected in [2, 3] {
        assert_eq!(bench.failure(expected), EngineError::Busy.into());
    }
    bench.cancel(run);
}

#[test]
fn a_model_is_measured_on_a_test_split() {
    let bench = bench(4, 8);
    bench.start(1);
    let trained = bench.finished();
    let model = ModelRef::File(trained.model_path.clone());
    let spec = EvaluationSpec::new(model, bench.config.data.clone());
    let measured = bench.evaluated(5, spec);
    assert_eq!(
        Some(measured),
        trained.test,
        "the same model on the same images"
    );
}

#[test]
fn what_was_evaluated_names_the_source_whose_images_were() {
    let bench = bench(1, 1);
    let set = bench.config.data.sources()[0].clone();
    for (data, split) in [
        (DataSpec::with_builtin(set), None),
        (DataSpec::builtin(), Some(EvaluationSplit::Test)),
    ] {
        let spec = EvaluationSpec {
            split,
            ..EvaluationSpec::new(ModelRef::Starter, data.clone())
        };
        let measured = bench.evaluated(5, spec);
        let images = if data == DataSpec::builtin() {
            10_000
        } else {
            50
        };
        assert_eq!(
            (measured.data.sources(), measured.evaluation.images),
            (&data.sources()[..1], images),
            "not the mix"
        );
    }
}

#[test]
fn models_are_compared_on_the_same_test_images() {
    let bench = bench(4, 8);
    bench.start(1);
    let trained = bench.finished();
    let model = ModelRef::File(trained.model_path.clone());
    let compare = |models: &[ModelRef], data: Option<&DataSpec>| {
        Job::CompareModels(ComparisonSpec {
            models: models.to_vec(),
            data: data.cloned(),
        })
    };
    let both = [ModelRef::Starter, model.clone()];
    let JobResult::CompareModels(found) = bench.result(5, compare(&both, Some(&bench.config.data)))
    else {
        panic!("another result")
    };
    let test = trained.test.unwrap().evaluation;
    let (starter, own) = (&found.models[0], &found.models[1]);
    assert_eq!(found.images, test.images);
    assert_eq!(found.split, EvaluationSplit::Test);
    assert_eq!(
        own.correct as f64 / found.images as f64,
        test.accuracy,
        "the same model on the same images"
    );
    assert_eq!(&own.config, &trained.config);
    assert_eq!(own.train_seconds, Some(trained.train_seconds));
    assert_eq!(starter.train_seconds, None);
    for (digit, (&images, &correct)) in found.digits.iter().zip(&own.correct_digits).enumerate() {
        let row = &test.confusion[digit];
        assert_eq!(images, row.iter().map(|&n| u64::from(n)).sum::<u64>());
        assert_eq!(correct, u64::from(row[digit]));
    }
    let pair = found.pair(1, 0).unwrap();
    assert_eq!(pair.both + pair.first_only, own.correct);
    assert_eq!(pair.both + pair.second_only, starter.correct);
    assert_eq!(pair.images(), found.images);
    assert_eq!(own.only_correct[1], 0);
    assert_eq!(found.pair(0, 2), None);

    // What the data is has to be said where the models do not agree.
    let different = ComparisonError::DifferentData {
        sets: vec!["MNIST".to_owned(), bench.config.data.label()],
    };
    assert_eq!(
        bench.refused(6, compare(&both, None)),
        Problem::from(different)
    );
    assert_eq!(
        bench.refused(7, compare(&[model.clone(), model.clone()], None)),
        Problem::from(ComparisonError::Repeated)
    );
    assert_eq!(
        bench.refused(8, compare(&[model], None)),
        Problem::from(ComparisonError::Count { given: 1 })
    );
}

#[test]
fn what_cannot_be_trained_is_said() {
    let mut bench = bench(4, 1);
    bench.config.batch_size = 100_000;
    bench.start(1);
    let problem = bench.failure(1);
    assert!(problem.code == Code::Config, "{problem}");
    bench.config.batch_size = 10;
    bench.config.data = "no/such/folder".parse().unwrap();
    bench.start(2);
    let problem = bench.failure(2);
    assert!(problem.name.starts_with("DataError::"), "{problem}");
}

#[test]
fn a_runs_folder_that_cannot_be_is_refused_before_training() {
    let bench = bench(4, 1);
    std::fs::write(bench.at("runs"), "a file where the folder should be").unwrap();
    bench.start(1);
    let problem = bench.until(|event| match event {
        Event::Started { .. } => panic!("trained for nothing"),
        event => failure(event, 1),
    });
    assert!(problem.name.contains("WriteError"), "{problem}");
}

/// A run of two epochs, for which there is no folder any more when it ends: a file of that name is
/// there. Gives the problem, and how far its checkpoint is.
fn not_saved(bench: &Bench) -> (Problem, Option<RunPosition>) {
    let runs = bench.at("runs");
    bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    bench.handle.send(Command::Pause(JobId(1)));
    bench.wait(|event| matches!(event, Event::Paused(_)));
    std::fs::remove_dir(&runs).unwrap();
    std::fs::write(&runs, "in the way").unwrap();
    bench.handle.send(Command::Resume(JobId(1)));
    bench.until(not_saved_yet)
}

fn not_saved_yet(event: Event) -> Option<(Problem, Option<RunPosition>)> {
    match event {
        Event::NotSaved {
            problem,
            checkpoint,
            ..
        } => Some((problem, checkpoint)),
        event => finished(event).map(|_| panic!("it was saved")),
    }
}

/// The same without a checkpoint: there is no folder for any either.
fn not_saved_at_all(bench: &Bench) {
    std::fs::write(bench.at("checkpoints"), "in the way").unwrap();
    assert_eq!(not_saved(bench).1, None);
}

fn rescued(event: Event) -> Option<(Problem, Rescue)> {
    match event {
        Event::Rescued {
            problem, rescue, ..
        } => Some((problem, rescue)),
        event => finished(event).map(|_| panic!("it was saved as usual")),
    }
}

#[test]
fn a_run_that_cannot_be_saved_and_has_no_checkpoint_is_rescued_before_it_ends() {
    for end in [
        Command::Cancel(JobId(1)),
        Command::Shutdown,
        Command::Interrupt,
    ] {
        let bench = bench(40, 2);
        not_saved_at_all(&bench);
        bench.handle.send(end);
        let (problem, rescue) = bench.until(rescued);
        let summary = bench.finished();
        assert!(problem.name.contains("WriteError"), "{problem}");
        assert!(
            rescue.temporary
                && !rescue.model_alone
                && rescue.folder.starts_with(std::env::temp_dir()),
            "{rescue:?}"
        );
        let run = FinishedRun::load(&rescue.folder).unwrap();
        assert_eq!(&run.summary, &summary);
        assert_eq!(run.summary.epochs.len(), 2);
        assert!(!run.summary.stopped);
        assert!(!run.steps.is_empty() && summary.model_path.is_file());
        std::fs::remove_dir_all(rescue.folder.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_run_without_a_checkpoint_can_still_be_saved_in_another_folder() {
    let bench = bench(40, 2);
    not_saved_at_all(&bench);
    let elsewhere = bench.at("elsewhere");
    bench.handle.send(Command::Save {
        run: JobId(1),
        folder: Some(elsewhere.clone()),
    });
    assert!(bench.finished().model_path.starts_with(&elsewhere));
}

#[test]
fn a_run_whose_folder_was_taken_meanwhile_is_saved_beside_it() {
    let bench = bench(40, 2);
    let out = bench.at("out");
    let settings = EngineSettings {
        runs: RunsTarget::Folder {
            folder: out.clone(),
            replace: false,
        },
        ..bench.settings()
    };
    let bench = bench.restarted(settings);
    bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    let taken = [out.clone(), bench.at("out_2")];
    for folder in &taken {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("mine"), "mine").unwrap();
    }
    let (problem, rescue) = bench.until(rescued);
    assert!(
        problem
            == RunError::Occupied {
                folder: out.clone()
            }
            .into(),
        "{problem}"
    );
    let beside = Rescue {
        folder: bench.at("out_3"),
        temporary: false,
        model_alone: false,
    };
    assert_eq!(&rescue, &beside);
    assert_eq!(bench.finished().folder, beside.folder.clone());
    for folder in taken {
        assert_eq!(
            std::fs::read_dir(folder).unwrap().count(),
            1,
            "nothing of it was touched"
        );
    }
}

#[test]
fn a_resumed_run_that_is_stopped_before_it_trains_is_saved_as_it_was() {
    // So that it is not over before it is interrupted.
    let bench = bench(40, 1000);
    bench.start(1);
    let mut completed = 0;
    bench.wait(|event| {
        completed += u32::from(matches!(event, Event::Epoch { .. }));
        completed == 2
    });
    bench.handle.send(Command::Interrupt);
    let checkpoint = bench.interrupted();
    let card = Checkpoints::read_card(&checkpoint).unwrap().card;
    // With a new engine, which has to prepare the data.
    let later = EngineHandle::spawn(bench.settings(), |_| {});
    later.send(train(2, &bench.config, Some(checkpoint.clone())));
    later.send(Command::Cancel(JobId(2)));
    let summary = until(&later, |event| {
        let trains = matches!(event, Event::Steps { .. } | Event::Epoch { .. });
        assert!(!trains, "it trains on");
        finished(event)
    });
    assert!(summary.stopped && summary.test.is_some() && summary.model_path.is_file());
    assert_eq!(summary.epochs, card.epochs);
    assert!(!checkpoint.exists(), "it is saved, and cannot be resumed");
}

#[test]
fn a_run_that_cannot_be_saved_waits_until_it_can() {
    let bench = bench(40, 2);
    let (problem, checkpoint) = not_saved(&bench);
    assert!(
        problem.name.contains("WriteError") && checkpoint.is_some(),
        "{problem}"
    );
    std::fs::remove_file(bench.at("runs")).unwrap();
    bench.handle.send(Command::Save {
        run: JobId(1),
        folder: None,
    });
    assert!(bench.finished().model_path.starts_with(bench.at("runs")));
    assert!(
        std::fs::read_dir(bench.at("checkpoints"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn a_run_that_cannot_be_saved_is_saved_in_another_folder() {
    let bench = bench(40, 2);
    not_saved(&bench);
    let elsewhere = bench.at("elsewhere");
    bench.handle.send(Command::Save {
        run: JobId(1),
        folder: Some(elsewhere.clone()),
    });
    let summary = bench.finished();
    assert!(
        !summary.stopped && summary.test.is_some() && summary.model_path.starts_with(&elsewhere),
        "{summary:?}"
    );
}

#[test]
fn a_run_that_cannot_be_saved_is_resumed_and_saved_later() {
    for end in [
        Command::Cancel(JobId(1)),
        Command::Shutdown,
        Command::Interrupt,
    ] {
        let bench = bench(40, 2);
        not_saved(&bench);
        bench.handle.send(end);
        let checkpoint = bench.interrupted();
        std::fs::remove_file(bench.at("runs")).unwrap();
        let later = EngineHandle::spawn(bench.settings(), |_| {});
        later.send(train(2, &bench.config, Some(checkpoint)));
        let summary = until(&later, finished);
        assert!(!summary.stopped && summary.epochs.len() == 2 && summary.model_path.is_file());
    }
}

#[test]
fn the_real_mnist_is_learned() {
    let Some(folder) = crate::support::mnist_folder() else {
        return;
    };
    let mut bench = bench(1, 1);
    bench.config = RunConfig {
        data: DataSpec::single(DataSource::Path(folder)),
        ..RunConfig::preset(Preset::QuickLook)
    };
    bench.config.epochs = 1;
    bench.start(1);
    let test = bench
        .finished()
        .test
        .expect("a run that ends reads the test split")
        .evaluation;
    assert_eq!(test.images, 10_000);
    assert!(test.accuracy > 0.94, "{}", test.accuracy);
    assert_eq!(test.confusion.iter().flatten().sum::<u32>(), 10_000);
}

#[test]
fn a_missing_model_is_said_and_the_reader_stays() {
    let bench = bench(1, 1);
    bench.handle.send(Command::UseModel(ModelRef::File(
        "no/such/model.safetensors".into(),
    )));
    bench.wait(|event| matches!(event, Event::Failed(problem) if problem.code == Code::Model));
    bench.handle.send(read_stroke(1));
    let (_, prediction) = bench.until(drawing_read);
    assert_eq!(prediction.model.reference, ModelRef::Starter);
}

#[test]
fn a_benchmark_reports_how_far_it_is_and_can_be_broken_off() {
    let bench = bench(8, 1);
    bench.handle.send(submit(7, Job::Benchmark(Effort::Quick)));
    bench.wait(|event| is_progress(event, 7));
    bench.wait(|event| matches!(event, Event::BenchmarkRow { id: JobId(7), .. }));
    bench.handle.send(Command::Cancel(JobId(6)));
    bench.cancel_at_once(JobId(7));
    assert!(!bench.at("bench").exists(), "nothing is kept of it");
}

#[test]
fn a_benchmark_waits_for_no_run_and_gives_way_to_one() {
    let bench = bench(200, 20);
    let run = bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    assert_eq!(
        bench.refused(2, Job::Benchmark(Effort::Quick)),
        EngineError::Busy.into()
    );
    bench.cancel(run);
    bench.handle.send(submit(3, Job::Benchmark(Effort::Quick)));
    bench.wait(|event| is_progress(event, 3));
    bench.start(4);
    bench.wait(|event| *event == cancelled(JobId(3)));
    bench.wait(|event| matches!(event, Event::Started { run: JobId(4), .. }));
}

#[test]
fn models_are_exported_also_while_a_run_is_under_way_but_not_measured_then() {
    let bench = bench(200, 20);
    let run = bench.start(1);
    bench.wait(|event| matches!(event, Event::Started { .. }));
    let to = bench.at("starter.onnx");
    let spec = ExportSpec::new(ExportFormat::Onnx);
    let report = bench.exported(2, export(ModelRef::Starter, &spec, Some(&to)));
    assert_eq!((report.paths.first(), report.files.len()), (Some(&to), 2));
    assert_eq!(std::fs::metadata(&to).unwrap().len(), report.files[0].bytes);
    let quantized = ExportSpec {
        quantize: true,
        ..spec
    };
    assert_eq!(
        bench.refused(3, export(ModelRef::Starter, &quantized, Some(&to))),
        EngineError::Busy.into()
    );
    // What it would hold is not work.
    let report = bench.exported(4, export(ModelRef::Starter, &quantized, None));
    assert!(report.paths.is_empty());
    let spec = ImportSpec::of(to);
    assert_eq!(
        bench.refused(5, Job::Import(spec)),
        EngineError::Busy.into()
    );
    bench.cancel(run);
}

#[test]
fn eight_bit_weights_are_measured_and_what_went_out_comes_back_and_is_trained_further() {
    let mut bench = bench(20, 1);
    bench.start(1);
    let trained = bench.until(finished);
    let (onnx, weights) = (bench.at("small.onnx"), bench.at("mine.safetensors"));
    let model = ModelRef::File(trained.model_path.clone());
    let spec = ExportSpec {
        quantize: true,
        ..ExportSpec::new(ExportFormat::Onnx)
    };
    let report = bench.exported(2, export(model.clone(), &spec, Some(&onnx)));
    let accuracy = report.quantized.unwrap();
    assert_eq!(
        (accuracy.images, accuracy.original),
        (50, trained.test.clone().unwrap().evaluation.accuracy)
    );

    let spec = ExportSpec::new(ExportFormat::Safetensors);
    bench.exported(3, export(model, &spec, Some(&weights)));
    let words = std::fs::read(&weights).unwrap();
    let folder = bench.folder.path().display().to_string();
    assert!(
        !words
            .windows(folder.len())
            .any(|window| window == folder.as_bytes()),
        "where things lie here is nobody's business"
    );
    let imported = match bench.result(4, Job::Import(ImportSpec::of(weights))) {
        JobResult::Import {
            summary,
            finding: ImportFinding::Described,
        } => summary,
        other => panic!("{other:?}"),
    };
    assert_eq!(imported.imported.as_deref(), Some("mine.safetensors"));
    assert_eq!(&imported.epochs, &trained.epochs);
    assert_ne!(imported.model_path, trained.model_path);
    // Its data set was a folder of another machine as far as it knows: it is measured on test
    // images that are here.
    let test = imported.test.clone().unwrap();
    assert_eq!(test.data.label(), "Built-in digits".to_owned());
    assert_eq!(test.evaluation.images, 10_000);
    assert_eq!(test.split, EvaluationSplit::Test);
    let file = inkling::nn::ModelFile::load(&imported.model_path).unwrap();
    assert_eq!(
        file.card.accuracy(),
        Some(test.accuracy()),
        "the model itself has the figure that the list shows"
    );

    // From these weights, without moving them: a rate of next to nothing leaves them as they are.
    let data = bench.config.data.clone();
    bench.config = RunConfig {
        data,
        learning_rate: 1e-12,
        weight_decay: 0.0,
        ..bench.config.clone().further(imported.model_path.clone())
    };
    bench.start(5);
    let further = bench.until(finished);
    let loss = |summary: &RunSummary| summary.kept().unwrap().validation_loss;
    assert!(
        (loss(&further) - loss(&imported)).abs() < 1e-4,
        "{} after {}",
        loss(&further),
        loss(&imported)
    );
    bench.config.model = ModelKind::LeNet;
    bench.start(6);
    let problem = bench.failure(6);
    assert!(problem.name == "ConfigError::InitialWeights", "{problem}");
}

#[test]
fn a_run_of_the_command_line_ends_where_it_was_meant_to_whoever_resumes_it() {
    let bench = bench(8, 2);
    let set = load(&bench.config.data, &[], &mut Unwatched).unwrap();
    let mut watcher = Watcher::default();
    let whole = synthetic::train(&bench.config, &set, &mut watcher)
        .unwrap()
        .unwrap();
    let mut checkpoint = watcher.checkpoints.remove(0);
    let out = bench.at("out");
    let places = RunPlaces {
        working_folder: "/".into(),
        data_folders: Vec::new(),
        out: Some(out.clone()),
        replace: false,
        weights: WeightFormat::F16,
    };
    checkpoint.card.origin = Some(RunOrigin {
        data: Fingerprint::of(&set),
        places,
    });
    let mut place = Checkpoints::new(bench.at("checkpoints")).begin();
    place.write(&checkpoint).unwrap();
    let folder = place.path().to_owned();
    drop(place);
    bench
        .handle
        .send(train(1, &bench.config, Some(folder.clone())));
    let summary = bench.finished();
    assert_eq!((&summary.folder, bench.runs_kept()), (&out, 0));
    assert_eq!(summary.test, whole.summary.test);
    let bytes = std::fs::metadata(summary.model_path).unwrap().len();
    assert!(
        bytes < 3 * summary.plan.parameters,
        "{bytes} bytes: the weights are stored as f16"
    );
    assert!(!folder.exists());
}

#[test]
fn a_model_is_fine_tuned_on_the_drawings_that_are_kept() {
    let bench = bench(4, 1);
    let data = bench.at("data");
    // Slanted lines, which the model has never seen, as ones and sevens.
    let drawing = |place: u8, digit: u8| {
        let slant = if digit == 1 { -120.0 } else { 120.0 };
        let start = f32::from(place);
        let ink = Ink {
            strokes: vec![vec![[100.0 + start, 40.0], [100.0 + start + slant, 240.0]]],
            pen: Some(20.0),
        };
        KeptDrawing::new(&ink, digit).unwrap()
    };
    let drawings = (0..20)
        .flat_map(|place| [drawing(place, 1), drawing(place, 7)])
        .collect();
    MyDigits::in_folders(&[data])
        .change(&Edit {
            add: drawings,
            ..Edit::default()
        })
        .unwrap();
    bench.start(1);
    let summary = bench.until(finished);
    let model = ModelRef::File(summary.model_path);
    let JobResult::FineTune(tuned) = bench.result(2, Job::FineTune(model)) else {
        panic!("no model")
    };
    assert_eq!(tuned.mine.images, 40);
    assert_eq!(tuned.held_out.unwrap().images, 8);
    assert_eq!(tuned.old.images, 2000);
    assert!(tuned.mine.after >= 38, "{tuned:?}");
    // What was a folder of this machine is not at hand any more: built-in digits take its place.
    assert_eq!(tuned.old_data, DataSpec::builtin());
    let saved = tuned.saved.unwrap();
    assert_eq!(saved.config.data.to_string(), "builtin+mine");
    assert!(saved.model_path.is_file() && saved.config.initial_weights.is_some());
    // Both are known by their accuracy on the same test images.
    let (test, before) = (saved.test.as_ref().unwrap(), tuned.before.unwrap());
    assert_eq!(test.accuracy().label(), before.label());
    assert_eq!((test.evaluation.images, before.images), (50, Some(50)));
    bench.refused(3, Job::FineTune(ModelRef::File("nowhere".into())));
}

#[test]
fn many_drawings_are_recognized_at_once() {
    let bench = bench(4, 1);
    let line = Ink {
        strokes: vec![vec![[100.0, 40.0], [100.0, 240.0]]],
        pen: Some(20.0),
    };
    bench.handle.send(Command::Read {
        request: 7,
        what: Question::Drawings(vec![line; 3]),
    });
    let answers = bench.until(|event| match event {
        Event::Read {
            request: 7,
            answer: Ok(Answer::Drawings(answers)),
        } => Some(answers),
        _ => None,
    });
    assert!(
        answers.len() == 3 && answers.iter().all(|answer| answer.digit == 1),
        "{answers:?}"
    );
}

#[test]
fn a_search_for_a_batch_size_times_each_and_is_cancelled_at_once() {
    let bench = bench(8, 2);
    let spec = BatchSizeSpec {
        config: bench.config.clone(),
        accuracy: 0.5,
    };
    bench
        .handle
        .send(submit(1, Job::FindBatchSize(spec.clone())));
    let mut rows = Vec::new();
    let found = bench.until(|event| match event {
        Event::TimedToAccuracy { row, .. } => {
            rows.push(row);
            None
        }
        event => result(event, 1),
    });
    assert!(matches!(found, JobResult::FindBatchSize(_)), "{found:?}");
    assert!(
        rows.len() > 1 && rows[0].batch_size == bench.config.batch_size,
        "{rows:?}"
    );
    assert!(rows.iter().all(|row| row.reached.is_some()), "{rows:?}");
    let config = RunConfig {
        model: ModelKind::ResNet20,
        ..bench.config.clone()
    };
    bench.handle.send(submit(
        2,
        Job::FindBatchSize(BatchSizeSpec {
            config,
            accuracy: 0.999,
        }),
    ));
    bench.wait(|event| is_progress(event, 2));
    bench.cancel_at_once(JobId(2));
    bench.assert_nothing_is_kept();
}

#[test]
fn a_search_for_a_learning_rate_reports_its_steps_and_is_cancelled_at_once() {
    let bench = bench(8, 2);
    bench
        .handle
        .send(submit(1, Job::FindLearningRate(bench.config.clone())));
    let mut rates = Vec::new();
    let found = bench.until(|event| match event {
        Event::Steps { steps, .. } => {
            rates.extend(steps.into_iter().map(|point| point.learning_rate));
            None
        }
        event => result(event, 1),
    });
    let JobResult::FindLearningRate(found) = found else {
        panic!("{found:?}")
    };
    assert!(
        found.suggestion.is_some() && found.steps == rates.len() as u64,
        "{found:?}"
    );
    bench.handle.send(submit(
        2,
        Job::FindLearningRate(RunConfig {
            model: ModelKind::ResNet20,
            ..bench.config.clone()
        }),
    ));
    bench.wait(|event| is_progress(event, 2));
    bench.cancel_at_once(JobId(2));
    bench.assert_nothing_is_kept();
}
