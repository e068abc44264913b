//! Commands and events through a pipe: each arrives as it left, and nonsense becomes an error.

use std::io::ErrorKind;
use std::path::PathBuf;

use inkling::bench::step_config_of;
use inkling::data::DataError;
use inkling::engine::{Handshake, read, recv_handshake, send_handshake, write};
use inkling::infer::{Agreement, DeviceComparison, DeviceRejection, DeviceTrial};
use inkling::ink::{Image, Ink, Step, Steps, Writing};
use inkling::problem::Problem;
use inkling::protocol::{
    Answer, Command, EngineError, EngineExit, Event, Job, JobEvent, JobProgress, JobResult,
    Question,
};
use inkling::records::benchmark::Workload;
use inkling::records::{
    BatchSizeFinding, BatchSizeSpec, ComparisonSpec, DigitPrediction, Divergence, DrawingAnswer,
    EvaluationSpec, ExportSpec, ImportFinding, ImportSpec, Intervention, JobId, LearningRateChange,
    LearningRateFinding, LearningRateSuggestion, MapSpec, ModelRef, NotDigitsSpec,
    PredictionDetails, Reached, Replace, Rescue, RunPosition, SearchEnd, StepPoint, Telemetry,
    TimeToAccuracy, UnitSelection, WhySpec,
};
use inkling::run_config::{
    Activation, ConfigError, DataSource, DataSpec, DeviceChoice, EvaluationSplit, ExportFormat,
    InferenceChoice, ModelKind, Preset, PublicDataset, RunConfig, Setting,
};
use inkling::train::TrainError;

use crate::fake_engine::{
    evaluation_report, explained, exported, held_out, learning, map, model_comparison, plan,
    prediction, reads, report, single_step, starter, summary,
};
use crate::jobs::{cancelled, done, failed, progress, submit, train};

fn comparison_spec() -> ComparisonSpec {
    let models = vec![
        ModelRef::Starter,
        ModelRef::File("a/model.safetensors".into()),
    ];
    ComparisonSpec {
        models,
        data: Some(DataSpec::builtin()),
    }
}

fn through<T: serde::Serialize + serde::de::DeserializeOwned>(message: &T) -> T {
    let mut pipe = Vec::new();
    write(&mut pipe, message).unwrap();
    write(&mut pipe, &Command::Ping).unwrap();
    let mut rest = pipe.as_slice();
    let back = read(&mut rest).unwrap().unwrap();
    // The next frame begins where this one ended, and then there is nothing.
    assert_eq!(read(&mut rest).unwrap(), Some(Command::Ping));
    assert_eq!(read::<Command>(&mut rest).unwrap(), None);
    back
}

const EVERY_REASON: Option<WhySpec> = Some(WhySpec {
    digit: 1,
    class: Some(9),
    counterfactual: true,
});

fn every_detail() -> PredictionDetails {
    PredictionDetails {
        inspection: true,
        look: Some(UnitSelection {
            layer: 1,
            unit: 2,
            place: Some(3),
        }),
        why: EVERY_REASON,
        nearest: 10,
    }
}

#[test]
fn every_command_arrives_as_it_left() {
    let ink = Ink {
        strokes: vec![vec![[1.5, -2.25], [f32::MAX, 1e-30]], Vec::new()],
        ..Ink::default()
    };
    let mixed: DataSpec = "builtin+mnist+some/folder".parse().unwrap();
    let presets = Preset::ALL.iter().map(|&preset| {
        let config = RunConfig {
            data: mixed.clone(),
            threads: Some(3),
            clip_norm: Some(0.1),
            ..RunConfig::preset(preset)
        };
        train(u64::MAX, &config, Some(PathBuf::from("checkpoints/one")))
    });
    let named = DataSpec::single(DataSource::Named(PublicDataset::Mnist));
    let question = |what| Command::Read { request: 5, what };
    let others = [
        Command::Pause(JobId(1)),
        Command::Resume(JobId(2)),
        Command::TakeStep {
            run: JobId(1),
            unit: None,
        },
        Command::TakeStep {
            run: JobId(1),
            unit: Some(single_step().unit.unwrap().name),
        },
        Command::ScaleLearningRate {
            run: JobId(1),
            factor: 0.1,
        },
        Command::Cancel(JobId(3)),
        Command::UseModel(ModelRef::Starter),
        Command::UseModel(ModelRef::File("a/b c/model.safetensors".into())),
        Command::UseModel(ModelRef::Training(JobId(4))),
        Command::ChooseInferenceDevice {
            choice: InferenceChoice::Fastest,
            usable: vec![DeviceChoice::Cuda, DeviceChoice::Metal],
        },
        question(Question::Drawing {
            ink: ink.clone(),
            steps: Steps::ALL,
            details: every_detail(),
        }),
        question(Question::Candidates {
            candidates: Writing::framed(prediction(&ink).image).candidate_images(),
            why: EVERY_REASON,
        }),
        question(Question::Drawings(vec![ink.clone(), Ink::default()])),
        question(Question::Map(MapSpec {
            known: Some(u64::MAX),
            own: map(7).images.unwrap_or_default(),
            components: 2,
        })),
        question(Question::Number {
            ink,
            steps: Steps::ALL.without(Step::Pen).on_page([700.0, 280.0]),
            why: None,
        }),
        submit(
            6,
            Job::Evaluate(EvaluationSpec {
                split: Some(EvaluationSplit::All),
                not_digits: Some(NotDigitsSpec {
                    path: "letters.jsonl".into(),
                    labels: Some("Aé".to_owned()),
                }),
                ..EvaluationSpec::new(ModelRef::Starter, named)
            }),
        ),
        submit(7, Job::Benchmark(report().effort)),
        submit(
            8,
            Job::Compare {
                config: RunConfig::default(),
                step_configs: vec![step_config_of(&RunConfig::default())],
            },
        ),
        submit(10, Job::TimeSteps(vec![RunConfig::default()])),
        submit(10, Job::Trial(RunConfig::default())),
        submit(11, Job::CompareModels(comparison_spec())),
        submit(11, Job::FindLearningRate(RunConfig::default())),
        submit(
            11,
            Job::FindBatchSize(BatchSizeSpec {
                config: RunConfig::default(),
                accuracy: 0.97,
            }),
        ),
        submit(
            9,
            Job::Export {
                model: ModelRef::Starter,
                spec: ExportSpec::new(ExportFormat::Zip),
                to: Some("a.zip".into()),
                replace: Replace::Requested,
            },
        ),
        submit(
            10,
            Job::Import(ImportSpec {
                activation: Some(Activation::Gelu),
                ..ImportSpec::of("a.pt".into())
            }),
        ),
        submit(
            10,
            Job::LookAt {
                model: "a/step-000010.safetensors".into(),
                images: vec![Image::BLANK],
            },
        ),
        train(
            1,
            &RunConfig::default().further("a/model.safetensors".into()),
            None,
        ),
        Command::Ping,
        Command::Shutdown,
        Command::Interrupt,
        Command::Save {
            run: JobId(3),
            folder: Some("elsewhere".into()),
        },
    ];
    for command in presets.chain(others) {
        assert_eq!(through(&command), command);
    }
}

#[test]
fn every_event_arrives_as_it_left() {
    let run = JobId(9);
    let config = RunConfig::default();
    let record = crate::train::watcher::record(3);
    let point = StepPoint {
        step: 1,
        loss: 0.1,
        accuracy: 1.0 / 3.0,
        learning_rate: 1e-9,
    };
    let folder = PathBuf::from("here");
    let answer = |answer| Event::Read { request: 1, answer };
    let step_back = Intervention::RolledBack {
        step: 4,
        to_step: 2,
        lr_factor: 0.5,
        left: 2,
        cause: Divergence::Exploded,
    };
    let problems = [
        Problem::from(EngineError::Busy),
        Problem::from(TrainError::Diverged {
            step: 3,
            cause: Divergence::Exploded,
        }),
        Problem::from(EngineError::Interrupted {
            checkpoint: Some("checkpoints/1".into()),
        }),
        Problem::from(ConfigError::OutOfRange {
            setting: Setting::Epochs,
            given: "0".to_owned(),
        }),
        Problem::from(ConfigError::OutOfRange {
            setting: Setting::LearningRate,
            given: "NaN".to_owned(),
        }),
        Problem::from(DataError::Missing {
            path: "gone".into(),
        }),
        Problem::from(EngineExit::Hung { seconds: 30 }),
    ];
    let flaws = [
        DeviceRejection::Failed(Problem::from(DataError::Unknown)),
        DeviceRejection::Slow {
            images: 3,
            seconds: 5.5,
        },
        DeviceRejection::Disagrees(Agreement {
            max_difference: f32::INFINITY,
            ..Agreement::default()
        }),
    ];
    let flaws = flaws
        .map(|flaw| DeviceTrial {
            device: DeviceChoice::Cuda,
            outcome: Err(flaw),
        })
        .to_vec();
    let recognized = ImportFinding::Recognized {
        accuracy: 0.5,
        images: 3,
        tried_on: DataSpec::builtin(),
        sure: false,
        calibrated: true,
    };
    let position = RunPosition {
        epochs: 3,
        steps: 7,
        steps_per_epoch: 10,
    };
    let events = [
        progress(9, 0.25),
        Event::DataImages {
            run,
            images: vec![Image::BLANK],
        },
        Event::DataNotes {
            job: run,
            notes: vec!["Images were set upright.".to_owned()],
        },
        Event::Started {
            run,
            plan: plan(&config),
            before: vec![record],
            curve: vec![point],
            position,
            folder: "checkpoints/1".into(),
        },
        Event::Steps {
            run,
            steps: vec![point; 3],
            now: Telemetry {
                loss_scale: Some(65_536.0),
                ..Telemetry::default()
            },
        },
        Event::Epoch { run, record },
        Event::Checkpoint {
            run,
            folder: folder.clone(),
            position,
            kept: Ok(()),
        },
        Event::Checkpoint {
            run,
            folder,
            position,
            kept: Err(EngineError::Busy.into()),
        },
        Event::Intervened {
            run,
            intervention: step_back,
        },
        Event::Intervened {
            run,
            intervention: Intervention::SkippedStep {
                step: 4,
                loss_scale: 2.0,
            },
        },
        Event::NotSaved {
            run,
            problem: EngineError::Busy.into(),
            checkpoint: None,
        },
        Event::NotSaved {
            run,
            problem: EngineError::Busy.into(),
            checkpoint: Some(position),
        },
        Event::Rescued {
            run,
            problem: EngineError::Busy.into(),
            rescue: Rescue {
                folder: "elsewhere".into(),
                temporary: true,
                model_alone: false,
            },
        },
        Event::HeldOut {
            run,
            images: held_out(),
        },
        Event::HeldOutSnapshot {
            run,
            snapshot: learning(12, 3),
        },
        Event::Paused(run),
        Event::Resumed(run),
        Event::RateChanged {
            run,
            change: LearningRateChange {
                step: 40,
                factor: 0.5,
            },
        },
        Event::StepTaken {
            run,
            step: Box::new(single_step()),
        },
        done(run, JobResult::Train(summary(&config, vec![record], false))),
        done(run, JobResult::Train(summary(&config, vec![record], true))),
        cancelled(run),
        Event::ModelInUse(starter()),
        Event::InferenceDevice(reads(&[
            (DeviceChoice::Cpu, 50.0),
            (DeviceChoice::Metal, 900.0),
        ])),
        Event::InferenceDevice(DeviceComparison {
            trials: flaws,
            ..reads(&[(DeviceChoice::Cpu, 50.0)])
        }),
        answer(Ok(Answer::Drawing(Box::new(explained(
            prediction(&Ink::default()),
            &Ink::default(),
            &every_detail(),
        ))))),
        answer(Ok(Answer::Number(vec![DigitPrediction {
            bounds: [1.0, 2.0, 3.0, 4.0],
            pieces: 0..2,
            prediction: prediction(&Ink::default()),
            explanation: explained(
                prediction(&Ink::default()),
                &Ink::default(),
                &every_detail(),
            )
            .explanation,
        }]))),
        answer(Ok(Answer::Drawings(vec![DrawingAnswer {
            digit: 3,
            confidence: 0.5,
            is_digit: true,
        }]))),
        answer(Ok(Answer::Map(None))),
        answer(Ok(Answer::Map(Some(Box::new(map(7)))))),
        answer(Err(EngineError::NoSuchRun.into())),
        Event::Job {
            id: run,
            event: JobEvent::Progress(JobProgress {
                fraction: 0.5,
                remaining_seconds: Some(3.0),
                workload: Some(Workload::Products),
                background_load: 0.2,
            }),
        },
        done(
            run,
            JobResult::Evaluate(evaluation_report(starter(), &config.data)),
        ),
        Event::BenchmarkRow {
            id: run,
            row: report().rows[0],
        },
        Event::TimedToAccuracy {
            id: run,
            row: TimeToAccuracy {
                batch_size: 64,
                learning_rate: 4e-3,
                images_per_second: 5100.5,
                reached: Some(Reached {
                    seconds: 2.5,
                    steps: 199.2,
                    images: 12_750.0,
                }),
                best_accuracy: 0.971,
                seconds: 2.6,
                diverged: false,
            },
        },
        done(
            run,
            JobResult::FindBatchSize(BatchSizeFinding {
                noise_scale: Some(314.5),
                background_load: 0.1,
            }),
        ),
        done(
            run,
            JobResult::Benchmark {
                report: report(),
                saved: Err(EngineError::Busy.into()),
            },
        ),
        done(
            run,
            JobResult::Compare {
                failed: vec![(step_config_of(&config), EngineError::Busy.into())],
                background_load: 0.3,
            },
        ),
        done(run, JobResult::Trial),
        done(
            run,
            JobResult::TimeSteps {
                images_per_second: vec![Some(5000.0), None],
                background_load: 0.1,
            },
        ),
        done(
            run,
            JobResult::CompareModels(model_comparison(&comparison_spec())),
        ),
        done(
            run,
            JobResult::FindLearningRate(LearningRateFinding {
                suggestion: Some(LearningRateSuggestion {
                    rate: 8e-3,
                    steepest: 3e-3,
                    lowest: 2e-2,
                }),
                end: SearchEnd::Risen,
                steps: 160,
            }),
        ),
        done(run, JobResult::Export(exported(Some("a.onnx".into())))),
        done(
            run,
            JobResult::Import {
                summary: summary(&config, Vec::new(), false),
                finding: ImportFinding::Described,
            },
        ),
        done(
            run,
            JobResult::Import {
                summary: summary(&config, Vec::new(), false),
                finding: recognized,
            },
        ),
        Event::Failed(EngineError::NoSuchRun.into()),
        Event::Pong,
        Event::Restarted,
        Event::EngineExited(EngineExit::Ended {
            status: "signal: 9".to_owned(),
            words: "CUDA\nerror".to_owned(),
        }),
    ];
    for event in events
        .into_iter()
        .chain(problems.map(|problem| failed(run, problem)))
    {
        assert_eq!(through(&event), event);
    }
}

#[test]
fn numbers_that_are_none_arrive_too() {
    let point = StepPoint {
        step: 1,
        loss: f32::NAN,
        accuracy: f32::INFINITY,
        learning_rate: f32::NEG_INFINITY,
    };
    let Event::Steps { steps, .. } = through(&Event::Steps {
        run: JobId(1),
        steps: vec![point],
        now: Telemetry::default(),
    }) else {
        panic!("another event")
    };
    assert_eq!(steps[0].loss.to_bits(), point.loss.to_bits());
    assert_eq!(steps[0].accuracy, f32::INFINITY);
    assert_eq!(steps[0].learning_rate, f32::NEG_INFINITY);
}

#[test]
fn each_side_greets_and_nonsense_is_called_that() {
    let mut pipe = Vec::new();
    send_handshake(&mut pipe).unwrap();
    assert_eq!(
        recv_handshake(&mut pipe.as_slice()).unwrap(),
        Some(Handshake::ours())
    );
    assert_eq!(recv_handshake(&mut [0_u8; 0].as_slice()).unwrap(), None);
    let kind = |bytes: &[u8]| recv_handshake(&mut &*bytes).unwrap_err().kind();
    assert_eq!(kind(b"Segmentation fault"), ErrorKind::InvalidData);
    assert_eq!(kind(&pipe[..pipe.len() - 1]), ErrorKind::UnexpectedEof);

    let failure = |bytes: &[u8]| read::<Command>(&mut &*bytes).unwrap_err().kind();
    assert_eq!(failure(&[1, 0]), ErrorKind::UnexpectedEof, "half a length");
    assert_eq!(
        failure(&[9, 0, 0, 0, 1, 2]),
        ErrorKind::UnexpectedEof,
        "half a frame"
    );
    assert_eq!(
        failure(&[255; 8]),
        ErrorKind::InvalidData,
        "a frame of 4 GB is not waited for"
    );
    assert_eq!(
        failure(&[2, 0, 0, 0, 0xC1, 0xC1]),
        ErrorKind::InvalidData,
        "no MessagePack"
    );
    let mut other = Vec::new();
    write(&mut other, &ModelKind::ConvNet).unwrap();
    assert_eq!(
        failure(&other),
        ErrorKind::InvalidData,
        "something else than a command"
    );
}
