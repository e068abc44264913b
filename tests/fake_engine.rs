//! Owns an engine without tensors, for tests of app and window: it answers on the real line what a
//! real engine would, but only when a test says so ([`FakeEngine::serve`]), so nothing depends on
//! time.

use inkling::settings::Settings;
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inkling::bench::step_config_of;
use inkling::download::DownloadError;
use inkling::engine::{EngineHandle, EngineHost, EngineSettings, EngineSide, SshHost};
use inkling::hardware::{Gpu, Hardware, LoadSample, Watched};
use inkling::import::ImportError;
use inkling::infer::{Agreement, DeviceComparison, DeviceTiming, DeviceTrial};
use inkling::ink::{
    Bounds, CandidateImage, Image, Ink, PlacedInk, Placement, Steps, Writing, rasterize_steps,
};
use inkling::nn::Net;
use inkling::optim::Schedule;
use inkling::problem::{Explain, Message, Problem};
use inkling::progress::Cancelled;
use inkling::protocol::{
    self, Command, EngineError, EngineExit, Event, ExportReport, Job, JobEvent, JobProgress,
    JobResult, Question,
};
use inkling::records::benchmark::{
    BATCH_SIZES, BenchmarkReport, BenchmarkedMachine, Effort, Measurement, SavedBenchmark,
    StepConfig, VERSION, Workload,
};
use inkling::records::{
    Accuracy, Annotation, Attribution, BatchSizeFinding, BatchSizeSpec, BeforeAfter, CARD_VERSION,
    COMPONENTS, Change, ComparedModel, ComparisonSpec, Counterfactual, DeletedBundle,
    DigitDetection, DigitMap, DigitPrediction, DrawingAnswer, EpochRecord, Evaluation,
    EvaluationReport, EvaluationSpec, Explanation, FileInfo, FilterImages, FineTuned,
    HeldOutAnswer, HeldOutImage, HeldOutSnapshot, ImportFinding, Inspection, JobId, LabelRejection,
    LabeledImage, LearningRateFinding, MapLayer, MapPoint, MapSource, MapSpec, MeasuredReading,
    ModelComparison, ModelInfo, ModelLook, ModelRef, NearImage, Neighborhood, Normalization,
    Prediction, PredictionDetails, Profile, RELIABILITY_BINS, Reached, Reading, ReceivedBundle,
    Recognition, RecordCard, ReliabilityBin, RunPlan, RunPosition, RunSeconds, RunSummary,
    SEARCH_RATES, SEARCH_STEPS, Sample, SeedRun, SingleStep, SplitEvaluation, StepPoint,
    Suggestion, Telemetry, TensorFormat, TensorInfo, TimeToAccuracy, Trials, UnitName,
    UnitSelection, UnitUpdate, Update, WhySpec, WriterScore, snapshot_step,
};
use inkling::run_config::{
    Activation, Classes, ConfigError, DataSpec, DeviceChoice, EvaluationSplit, ModelKind,
    Precision, Preset, RunConfig,
};
use inkling::runs::RunEntry;
use inkling::system::paths::Paths;
use inkling::window::{Answer, App, AppDeps, Choice, Desktop, Dialogs, OtherMachine, SampleLoad};

use crate::fake_executor::FakeExecutor;
use crate::jobs::{cancelled, done, failed, progress, submitted};
use crate::support::write_idx_set;

/// Steps of an epoch.
pub const STEPS_PER_EPOCH: u64 = 10;
/// What was done to the data of the trials of a sweep.
pub const DATA_NOTE: &str = "Pixels from 0 to 1 were scaled to 0 to 255.";

/// The engine's end of the line, in the hands of a test.
pub struct FakeEngine {
    /// Every engine that was asked for, the newest last; `None` once it died.
    lines: Rc<RefCell<Vec<Option<EngineSide>>>>,
    /// What each engine was told when it was started.
    pub settings_of: Rc<RefCell<Vec<EngineSettings>>>,
    /// The desktop deps the window.
    pub desktop: Arc<FakeDesktop>,
    /// Everything that was asked, oldest first.
    pub heard: Vec<Command>,
    /// What it finds about reading.
    pub reads: DeviceComparison,
    /// What its models were trained on.
    pub data: DataSpec,
    /// The benchmark under way.
    pub benchmark: Option<JobId>,
    /// The search for a learning rate under way.
    pub searching: Option<JobId>,
    /// The export whose accuracy is being measured.
    pub exporting: Option<JobId>,
    /// The run under way.
    pub run: Option<FakeRun>,
    /// Epochs that trials of sweeps still complete.
    pub trial_epochs: Arc<AtomicI64>,
    /// The live readings of the machine.
    pub live: Arc<Mutex<Live>>,
    /// What was sent to the other machine.
    pub received: Arc<Mutex<Vec<ReceivedBundle>>>,
    /// What the server of data sets does, in turn; a download waits for it.
    pub server: Sender<Download>,
    /// The folder everything is kept in; goes with this.
    pub home: tempfile::TempDir,
}

/// What a server of data sets does.
#[derive(Debug)]
pub enum Download {
    /// Sends data, until this share is there.
    Sends(f32),
    /// Has sent everything.
    Completes,
    /// Is not there.
    IsAway,
}

/// What is under way.
#[derive(Clone, Debug)]
pub struct FakeRun {
    pub id: JobId,
    pub config: RunConfig,
    pub step: u64,
    pub epochs: Vec<EpochRecord>,
    pub paused: bool,
}

/// The live readings of a machine, as a test writes them.
#[derive(Debug, Default)]
pub struct Live {
    /// What is read, one after the other; the last one again and again.
    pub script: VecDeque<LoadSample>,
    /// What was asked for, each time.
    pub asked: Vec<Watched>,
}

impl Live {
    fn read(&mut self, watched: &Watched) -> LoadSample {
        self.asked.push(watched.clone());
        if self.script.len() > 1 {
            self.script.pop_front()
        } else {
            self.script.front().cloned()
        }
        .unwrap_or_default()
    }
}

/// Downloads a small MNIST from a server that does what a test says.
fn answer_of_server(
    server: &Mutex<Receiver<Download>>,
    folder: &Path,
    progress: &mut dyn FnMut(f32) -> Result<(), Cancelled>,
) -> Result<PathBuf, DownloadError> {
    let server = server.lock().unwrap();
    let mut fraction = 0.0;
    loop {
        progress(fraction)?;
        match server.recv_timeout(Duration::from_millis(1)) {
            Ok(Download::Sends(share)) => fraction = share,
            Ok(Download::Completes) => {
                let path = folder.join("mnist");
                write_idx_set(&path, 60, 10);
                return Ok(path);
            }
            Ok(Download::IsAway) => {
                let (address, reason) = (
                    "https://example.org/mnist/".to_owned(),
                    "no route to host".to_owned(),
                );
                return Err(DownloadError::NoConnection { address, reason });
            }
            Err(_) => {}
        }
    }
}

/// A machine this busy, with 16 GB of memory of which a quarter is free.
pub fn busy(processor: f32) -> LoadSample {
    LoadSample {
        processor,
        memory_total: 16 << 30,
        memory_available: 4 << 30,
        process_memory: Some(300 << 20),
        gpus: Vec::new(),
    }
}

/// The machine the tests run on; with a folder for NVIDIA's libraries, one with a GPU and what that
/// folder lacks.
fn probed(cuda_folder: Option<&Path>) -> Hardware {
    let here = inkling::hardware::probe(Path::new("."));
    let Some(folder) = cuda_folder else {
        return here;
    };
    let cuda_finding = (!folder.join("all of them").exists())
        .then(|| format!("Nothing is in {}.", folder.display()));
    Hardware {
        gpus: vec![gpu()],
        gpu_finding: None,
        cuda_finding,
        ..here
    }
}

/// A GPU at work.
pub fn gpu() -> Gpu {
    Gpu {
        name: "GeForce RTX 4070".to_owned(),
        memory_total: 12 << 30,
        memory_free: 9 << 30,
        driver: "580.95".to_owned(),
        cuda: "13.0".to_owned(),
        compute_capability: "8.9".to_owned(),
        temperature: Some(61),
        power: Some(143.6),
        utilization: Some(0.87),
    }
}

/// A desktop that keeps track of what it is asked for.
#[derive(Debug, Default)]
pub struct FakeDesktop {
    /// How many keep it awake.
    pub keepers: Arc<AtomicUsize>,
    /// The notifications it has shown.
    pub shown: Mutex<Vec<Message>>,
    /// The folders it has shown.
    pub folders: Mutex<Vec<PathBuf>>,
    /// Whether its animations are off.
    pub still: AtomicBool,
}

/// Keeps the fake desktop awake while it lives.
struct Keeper(Arc<AtomicUsize>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Desktop for FakeDesktop {
    fn keep_awake(&self) -> Option<Box<dyn Any>> {
        self.keepers.fetch_add(1, Ordering::Relaxed);
        Some(Box::new(Keeper(Arc::clone(&self.keepers))))
    }

    /// Whoever is notified goes for it.
    fn notify(&self, message: &Message, chosen: Arc<dyn Fn() + Send + Sync>) {
        self.shown.lock().unwrap().push(message.clone());
        chosen();
    }

    fn show_folder(&self, folder: &Path) -> Result<(), Problem> {
        self.folders.lock().unwrap().push(folder.to_owned());
        Ok(())
    }

    fn reduces_motion(&self) -> bool {
        self.still.load(Ordering::Relaxed)
    }
}

/// Dialogs that are answered at once, and what else surrounds the window.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    pub folder: Option<PathBuf>,
    pub file: Option<PathBuf>,
    /// The desktop has no dialogs.
    pub none: bool,
    /// The machine reaches no other.
    pub no_network: bool,
}

impl Answers {
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: Some(folder.into()),
            ..Self::default()
        }
    }

    pub fn file(file: impl Into<PathBuf>) -> Self {
        Self {
            file: Some(file.into()),
            ..Self::default()
        }
    }

    fn answer(&self, path: Option<&PathBuf>) -> Choice {
        let answer = match path {
            _ if self.none => Answer::NotShown,
            Some(path) => Answer::Chosen(path.clone()),
            None => Answer::Cancelled,
        };
        Box::new(move || answer)
    }
}

impl Dialogs for Answers {
    fn folder(&self, _title: &str) -> Choice {
        self.answer(self.folder.as_ref())
    }

    fn open(&self, _title: &str, _what: &str, _endings: &[&str]) -> Choice {
        self.answer(self.file.as_ref())
    }

    fn save(&self, _title: &str, _name: &str) -> Choice {
        self.answer(self.file.as_ref())
    }
}

/// Settings of somebody for whom it is not the first launch.
pub fn past_wizard() -> Settings {
    Settings {
        wizard_done: true,
        ..Settings::default()
    }
}

/// An app past the wizard, and its engine.
pub fn app() -> (App, FakeEngine) {
    app_with(past_wizard(), Answers::default())
}

/// An app with these settings and dialogs, and its engine.
pub fn app_with(settings: Settings, dialogs: Answers) -> (App, FakeEngine) {
    let live = Arc::new(Mutex::new(Live::default()));
    let script = Arc::clone(&live);
    let (app, engine) = app_around(
        settings,
        dialogs,
        Arc::new(move |watched| script.lock().unwrap().read(watched)),
    );
    (app, FakeEngine { live, ..engine })
}

/// An app that reads the machine this way.
pub fn app_sampling_load(sample_load: SampleLoad) -> (App, FakeEngine) {
    app_around(past_wizard(), Answers::default(), sample_load)
}

fn app_around(settings: Settings, dialogs: Answers, sample_load: SampleLoad) -> (App, FakeEngine) {
    let home = tempfile::tempdir().unwrap();
    let has_network = !dialogs.no_network;
    let at = |name| home.path().join(name);
    let paths = Paths {
        local: home.path().to_owned(),
        settings: at("settings.json"),
        recipients: at("my-digits-recipients.json"),
        runs: at("runs"),
        checkpoints: at("checkpoints"),
        benchmarks: at("bench"),
        records: at("records"),
        sweeps: at("sweeps"),
        cuda: at("cuda"),
        data: vec![at("data")],
    };
    let (send, server) = channel();
    let server = Mutex::new(server);
    let desktop = Arc::<FakeDesktop>::default();
    let lines = Rc::new(RefCell::new(Vec::new()));
    let asked_for = Rc::clone(&lines);
    let settings_of = Rc::new(RefCell::new(Vec::new()));
    let started = Rc::clone(&settings_of);
    let received = Arc::<Mutex<Vec<ReceivedBundle>>>::default();
    let (listed, received_there) = (Arc::clone(&received), Arc::clone(&received));
    let trial_epochs = Arc::new(AtomicI64::new(i64::MAX));
    let epochs = Arc::clone(&trial_epochs);
    let deps = AppDeps {
        paths,
        host: EngineHost::Thread,
        connect: Box::new(move |_host, settings, wake| {
            let (handle, side) = EngineHandle::pair(move |urgency| wake(urgency));
            side.events.send(Event::ModelInUse(starter()));
            asked_for.borrow_mut().push(Some(side));
            started.borrow_mut().push(settings);
            handle
        }),
        executor: Arc::new(move |_host, _settings, _parallel| {
            Box::new(FakeExecutor {
                data_notes: vec![DATA_NOTE.to_owned()],
                epochs: Some(Arc::clone(&epochs)),
                ..FakeExecutor::default()
            })
        }),
        probe: Arc::new(probed),
        sample_load,
        self_test: Arc::new(|device, _folder| Ok(checked(device))),
        has_network: Box::new(move || has_network),
        download: Arc::new(move |_, folder, progress| answer_of_server(&server, folder, progress)),
        reach_host: Arc::new(|host| {
            let hardware = |host: &SshHost| match host.name() {
                "gpu-box" => Ok(Hardware {
                    system: "Linux".to_owned(),
                    gpus: vec![gpu()],
                    ..Hardware::default()
                }),
                name => Err(EngineExit::Disconnected {
                    machine: name.to_owned(),
                    reason: "ssh: no such host".to_owned(),
                }
                .into()),
            };
            OtherMachine::reach(host, hardware, |_, device| Ok(checked(device)))
        }),
        list_received: Arc::new(move |_| Ok(listed.lock().unwrap().clone())),
        delete_received: Arc::new(move |_, bundles| {
            let mut there = received_there.lock().unwrap();
            let (deleted, kept) = std::mem::take(&mut *there)
                .into_iter()
                .partition(|bundle| bundles.contains(&bundle.id) && !bundle.in_use);
            *there = kept;
            let deleted: Vec<ReceivedBundle> = deleted;
            Ok(deleted
                .into_iter()
                .map(|bundle| DeletedBundle {
                    id: bundle.id,
                    what: bundle.what,
                    problem: None,
                })
                .collect())
        }),
        dialogs: Box::new(dialogs),
        desktop: Arc::clone(&desktop) as Arc<dyn Desktop>,
        wake: Arc::new(|_| {}),
    };
    let mut app = App::new(settings, None, deps);
    let mut engine = FakeEngine {
        lines,
        desktop,
        heard: Vec::new(),
        reads: reads(&[(DeviceChoice::Cpu, 50.0)]),
        benchmark: None,
        searching: None,
        data: DataSpec::builtin(),
        exporting: None,
        run: None,
        trial_epochs,
        live: Arc::default(),
        settings_of,
        received,
        server: send,
        home,
    };
    engine.serve();
    engine.heard.clear();
    app.poll();
    (app, engine)
}

impl FakeEngine {
    /// How many engines were started so far.
    pub fn engines(&self) -> usize {
        self.lines.borrow().len()
    }

    /// Answers everything that was asked, as an engine would.
    pub fn serve(&mut self) {
        loop {
            let command = self
                .lines
                .borrow()
                .last()
                .and_then(Option::as_ref)
                .and_then(|side| side.commands.try_recv().ok());
            let Some(command) = command else { return };
            self.heard.push(command.clone());
            self.answer(command);
        }
    }

    /// Takes what was asked and answers nothing.
    pub fn listen(&mut self) -> Vec<Command> {
        let lines = self.lines.borrow();
        let new: Vec<Command> = lines
            .last()
            .and_then(Option::as_ref)
            .map(|side| side.commands.try_iter().collect())
            .unwrap_or_default();
        self.heard.extend(new.clone());
        new
    }

    /// Reports this.
    pub fn send(&self, event: Event) {
        self.lines
            .borrow()
            .last()
            .unwrap()
            .as_ref()
            .unwrap()
            .events
            .send(event);
    }

    /// Trains this many steps; an epoch is reported where one is complete.
    pub fn train(&mut self, steps: u64) {
        for _ in 0..steps {
            let run = self
                .run
                .as_mut()
                .filter(|run| !run.paused)
                .expect("a run that is going on");
            run.step += 1;
            let (id, step, total) = (
                run.id,
                run.step,
                u64::from(run.config.epochs) * STEPS_PER_EPOCH,
            );
            let now = Telemetry {
                step,
                epoch: (1 + (step - 1) / STEPS_PER_EPOCH) as u32,
                images_per_second: 4000.0,
                elapsed_seconds: step as f32,
                remaining_seconds: total.saturating_sub(step) as f32,
                memory_bytes: 100 << 20,
                ..Telemetry::default()
            };
            let point = StepPoint {
                step,
                loss: 2.3 / step as f32,
                accuracy: 1.0 - 0.9 / step as f32,
                learning_rate: 0.01,
            };
            let record = step
                .is_multiple_of(STEPS_PER_EPOCH)
                .then(|| record((step / STEPS_PER_EPOCH) as u32));
            run.epochs.extend(record);
            self.send(Event::Steps {
                run: id,
                steps: vec![point],
                now,
            });
            self.send(Event::HeldOutSnapshot {
                run: id,
                snapshot: learning(step, 10 * step as usize),
            });
            if let Some(record) = record {
                self.send(Event::Epoch { run: id, record });
                self.send(Event::ModelInUse(ModelInfo {
                    reference: ModelRef::Training(id),
                    epochs: record.epoch,
                    ..starter()
                }));
            }
        }
    }

    /// Reports that the run can be resumed from here, in the folder `kept`.
    pub fn checkpoint(&self, epochs: u32, steps: u64) {
        self.send(Event::Checkpoint {
            run: self.run.as_ref().expect("a run").id,
            folder: "kept".into(),
            position: RunPosition {
                epochs,
                steps,
                steps_per_epoch: STEPS_PER_EPOCH,
            },
            kept: Ok(()),
        });
    }

    /// The jobs that were asked for, oldest first.
    pub fn asked(&self) -> impl DoubleEndedIterator<Item = (JobId, &Job)> {
        self.heard.iter().filter_map(submitted)
    }

    /// Trains what is left of the run and reports its end.
    pub fn finish(&mut self) {
        let run = self.run.as_ref().expect("a run");
        let left = u64::from(run.config.epochs) * STEPS_PER_EPOCH - run.step;
        self.train(left);
        self.end(false);
    }

    /// The benchmark comes to its end.
    pub fn finish_benchmark(&mut self) {
        let id = self.benchmark.take().expect("a benchmark");
        let at = |name| self.home.path().join("bench").join(name);
        let saved = Ok(SavedBenchmark {
            json: at("now.json"),
            text: at("now.txt"),
        });
        self.send(done(
            id,
            JobResult::Benchmark {
                report: report(),
                saved,
            },
        ));
    }

    /// The comparison of batch sizes comes to its end: 64 is as good as any larger one.
    pub fn finish_batch_sizes(&mut self) {
        let step_configs = BATCH_SIZES.map(|batch_size| StepConfig {
            batch_size,
            ..step_config_of(&RunConfig::default())
        });
        self.finish_comparison(
            &step_configs
                .into_iter()
                .zip([3000.0, 4800.0, 4900.0, 5000.0, 4950.0, 4700.0])
                .collect::<Vec<_>>(),
            Vec::new(),
        );
    }

    /// A comparison comes to its end, with this many images a second on each configuration.
    pub fn finish_comparison(
        &mut self,
        rates: &[(StepConfig, f64)],
        failed: Vec<(StepConfig, Problem)>,
    ) {
        let id = self.benchmark.take().expect("a comparison");
        for &(
            StepConfig {
                device,
                precision,
                threads,
                batch_size,
            },
            images_per_second,
        ) in rates
        {
            let milliseconds = f64::from(batch_size) / images_per_second * 1e3;
            let (model, gflops, product_gflops) = (ModelKind::ConvNet, 100.0, 200.0);
            let row = Measurement::Step {
                model,
                device,
                precision,
                batch_size,
                threads,
                milliseconds,
                images_per_second,
                gflops,
                product_gflops,
            };
            self.send(Event::BenchmarkRow { id, row });
        }
        self.send(done(
            id,
            JobResult::Compare {
                failed,
                background_load: 0.0,
            },
        ));
    }

    /// The search for a learning rate comes to its end, with this finding.
    pub fn finish_search(&mut self, finding: LearningRateFinding) {
        let id = self.searching.take().expect("a search");
        self.search(id, 150);
        self.send(done(id, JobResult::FindLearningRate(finding)));
    }

    /// Recording comes to its end, with this profile.
    pub fn finish_profile(&mut self, profile: Profile) {
        let id = self.searching.take().expect("a recording");
        self.send(done(
            id,
            JobResult::Profile {
                profile,
                background_load: 0.0,
            },
        ));
    }

    /// The search for a batch size comes to its end: the two largest did not reach the accuracy.
    pub fn finish_batch_size_search(&mut self, config: &RunConfig) {
        let id = self.searching.take().expect("a search");
        for batch_size in BATCH_SIZES
            .into_iter()
            .filter(|size| *size != config.batch_size)
        {
            self.send(Event::TimedToAccuracy {
                id,
                row: time_to_accuracy(config, batch_size),
            });
        }
        let finding = BatchSizeFinding {
            noise_scale: Some(314.0),
            background_load: 0.0,
        };
        self.send(done(id, JobResult::FindBatchSize(finding)));
    }

    /// The steps of a search: 100, or those after them.
    fn search(&self, id: JobId, until: u64) {
        let schedule = Schedule::growing(SEARCH_RATES, SEARCH_STEPS);
        let point = |step: u64| {
            let loss = if step < 80 {
                2.3
            } else {
                2.3 - 0.02 * (step - 80) as f32
            };
            StepPoint {
                step: step + 1,
                loss,
                accuracy: 0.5,
                learning_rate: schedule.lr(step),
            }
        };
        let steps = if until > 100 { 100..until } else { 0..until };
        self.send(Event::Steps {
            run: id,
            steps: steps.map(point).collect(),
            now: Telemetry::default(),
        });
    }

    /// The run fails.
    pub fn fail(&mut self, problem: impl Into<Problem>) {
        let run = self.run.take().expect("a run");
        self.send(failed(run.id, problem));
    }

    /// The engine is gone without a word.
    pub fn die(&mut self) {
        self.run = None;
        *self.lines.borrow_mut().last_mut().unwrap() = None;
    }

    fn end(&mut self, stopped: bool) {
        let run = self.run.take().expect("a run");
        if run.epochs.is_empty() {
            self.send(cancelled(run.id));
        } else {
            self.send(done(
                run.id,
                JobResult::Train(summary(&run.config, run.epochs, stopped)),
            ));
        }
    }

    fn answer(&mut self, command: Command) {
        match command {
            Command::Submit { id, job, .. } => self.begin(id, *job),
            Command::Cancel(id) => self.cancel(id),
            Command::Pause(id) => self.hold(id, true),
            Command::Resume(id) => self.hold(id, false),
            Command::UseModel(reference) => self.send(Event::ModelInUse(ModelInfo {
                reference,
                ..starter()
            })),
            Command::ChooseInferenceDevice { .. } => {
                self.send(Event::InferenceDevice(self.reads.clone()));
            }
            Command::Read { request, what } => self.send(Event::Read {
                request,
                answer: Ok(self.read(what)),
            }),
            Command::Ping => self.send(Event::Pong),
            Command::Save { .. }
            | Command::TakeStep { .. }
            | Command::ScaleLearningRate { .. }
            | Command::Shutdown
            | Command::Interrupt => {}
            Command::FindBundle(_) | Command::SendFile { .. } | Command::KeepBundle { .. } => {
                panic!("this engine is on this machine")
            }
        }
    }

    fn read(&self, what: Question) -> protocol::Answer {
        match what {
            Question::Drawing {
                ink,
                steps,
                details,
            } => {
                let model = ModelInfo {
                    classes: self.data.classes(),
                    data: self.data.clone(),
                    ..starter()
                };
                let prediction = Prediction {
                    image: rasterize_steps(&ink, &steps),
                    model,
                    ..prediction(&ink)
                };
                protocol::Answer::Drawing(Box::new(explained(prediction, &ink, &details)))
            }
            Question::Number { ink, steps, why } => {
                let mut digits = digits(&ink, &steps);
                let writing = Writing::of_ink_with(&ink, &steps);
                for (index, digit) in digits.iter_mut().enumerate() {
                    let drawing = writing.drawing(digit.pieces.clone()).unwrap();
                    let details = PredictionDetails {
                        why: why.map(|why| why.of_digit(index)),
                        ..PredictionDetails::default()
                    };
                    let explained = explained(digit.prediction.clone(), &drawing.0, &details);
                    digit.explanation = explained.explanation;
                }
                protocol::Answer::Number(digits)
            }
            Question::Candidates { candidates, why } => {
                let is_one = |it: &&CandidateImage| it.candidate.pieces.len() == 1;
                let candidates = candidates.iter().filter(is_one).enumerate();
                let digits = candidates.map(|(index, it)| {
                    let prediction = Prediction {
                        image: it.image.clone(),
                        ..prediction(&Ink {
                            strokes: vec![Vec::new()],
                            pen: None,
                        })
                    };
                    let why = why.map(|why| why.of_digit(index));
                    DigitPrediction {
                        bounds: it.candidate.bounds.rectangle(),
                        pieces: it.candidate.pieces.clone(),
                        explanation: why
                            .map(|why| explanation(&prediction, it.placement, None, why)),
                        prediction,
                    }
                });
                protocol::Answer::Number(digits.collect())
            }
            Question::Drawings(drawings) => {
                let answer = |ink: &Ink| {
                    let Prediction {
                        digit,
                        confidence,
                        is_digit,
                        ..
                    } = prediction(ink);
                    DrawingAnswer {
                        digit,
                        confidence,
                        is_digit,
                    }
                };
                protocol::Answer::Drawings(drawings.iter().map(answer).collect())
            }
            Question::Map(spec) => protocol::Answer::Map(Some(Box::new(map_for(1, &spec)))),
        }
    }

    fn begin(&mut self, id: JobId, job: Job) {
        match job {
            Job::Train { .. } if self.run.is_some() => self.send(failed(id, EngineError::Busy)),
            Job::Train { config, .. } if config.data.label() == "few" && config.batch_size > 39 => {
                self.send(failed(
                    id,
                    ConfigError::BatchLargerThanSet {
                        given: config.batch_size,
                        images: 39,
                    },
                ));
            }
            Job::Train { config, .. } => {
                self.send(progress(id.0, 0.5));
                let folder = self.home.path().join("checkpoints/one");
                self.send(Event::Started {
                    run: id,
                    plan: plan(&config),
                    before: Vec::new(),
                    curve: Vec::new(),
                    position: RunPosition::default(),
                    folder,
                });
                self.send(Event::HeldOut {
                    run: id,
                    images: held_out(),
                });
                self.run = Some(FakeRun {
                    id,
                    config,
                    step: 0,
                    epochs: Vec::new(),
                    paused: false,
                });
            }
            Job::Evaluate(EvaluationSpec { model, data, .. }) => {
                self.send(progress(id.0, 0.5));
                let model = ModelInfo {
                    reference: model,
                    classes: self.data.classes(),
                    data: self.data.clone(),
                    ..starter()
                };
                self.send(done(
                    id,
                    JobResult::Evaluate(evaluation_report(model, &data)),
                ));
            }
            Job::FineTune(_) => {
                self.send(progress(id.0, 0.5));
                self.send(done(id, JobResult::FineTune(fine_tuned(true))));
            }
            Job::Benchmark(_) => {
                self.measuring(id, Workload::Products, 0.25, 30.0);
                self.send(Event::BenchmarkRow {
                    id,
                    row: report().rows[0],
                });
                self.benchmark = Some(id);
            }
            Job::Compare { config, .. } => {
                self.measuring(id, Workload::Steps(config.model), 0.5, 6.0);
                self.benchmark = Some(id);
            }
            Job::CompareModels(spec) => {
                self.send(progress(id.0, 0.5));
                self.send(done(id, JobResult::CompareModels(model_comparison(&spec))));
            }
            Job::Profile(_) => {
                self.send(progress(id.0, 0.5));
                self.searching = Some(id);
            }
            Job::FindLearningRate(_) => {
                self.send(progress(id.0, 0.5));
                self.search(id, 100);
                self.searching = Some(id);
            }
            Job::FindBatchSize(BatchSizeSpec { config, .. }) => {
                self.send(progress(id.0, 0.1));
                self.searching = Some(id);
                let row = time_to_accuracy(&config, config.batch_size);
                self.send(Event::TimedToAccuracy { id, row });
            }
            Job::TimeSteps(configs) => {
                let images_per_second = configs
                    .iter()
                    .map(|config| (config.preset != Some(Preset::Best)).then_some(5500.0))
                    .collect();
                self.send(done(
                    id,
                    JobResult::TimeSteps {
                        images_per_second,
                        background_load: 0.0,
                    },
                ));
            }
            Job::Export {
                spec, to: Some(_), ..
            } if spec.is_quantized() => {
                self.send(progress(id.0, 0.5));
                self.exporting = Some(id);
            }
            Job::Export { to, .. } => self.send(done(id, JobResult::Export(exported(to)))),
            Job::Trial(_) => self.send(done(id, JobResult::Trial)),
            Job::LookAt { model, images } => {
                let step = snapshot_step(&model).unwrap_or(u64::MAX);
                self.send(done(id, JobResult::LookAt(look(step, images.len()))));
            }
            Job::Import(spec) if spec.path.ends_with("average.pt") && !spec.accept => {
                let undecided = ImportError::Undecided {
                    path: spec.path,
                    trials: Box::new(trials()),
                };
                let message = undecided.message();
                let trials = trials();
                self.send(done(id, JobResult::ImportUndecided { trials, message }));
            }
            Job::Import(_) => {
                let summary = RunSummary {
                    imported: Some("net.pt".to_owned()),
                    ..summary(&RunConfig::default(), Vec::new(), false)
                };
                let finding = ImportFinding::Recognized {
                    accuracy: 0.97,
                    images: 1000,
                    tried_on: DataSpec::builtin(),
                    sure: true,
                    calibrated: true,
                };
                self.send(done(id, JobResult::Import { summary, finding }));
            }
        }
    }

    fn measuring(&self, id: JobId, workload: Workload, fraction: f32, remaining_seconds: f32) {
        let progress = JobProgress {
            fraction,
            remaining_seconds: Some(remaining_seconds),
            workload: Some(workload),
            background_load: 0.0,
        };
        self.send(Event::Job {
            id,
            event: JobEvent::Progress(progress),
        });
    }

    fn cancel(&mut self, id: JobId) {
        if self.run.as_ref().is_some_and(|run| run.id == id) {
            return self.end(true);
        }
        self.benchmark.take_if(|running| *running == id);
        self.searching.take_if(|running| *running == id);
        self.send(cancelled(id));
    }

    fn hold(&mut self, id: JobId, paused: bool) {
        if let Some(run) = self.run.as_mut().filter(|run| run.id == id) {
            run.paused = paused;
            self.send(if paused {
                Event::Paused(id)
            } else {
                Event::Resumed(id)
            });
        }
    }
}

/// What is reported of an epoch.
pub fn record(epoch: u32) -> EpochRecord {
    EpochRecord {
        epoch,
        step: STEPS_PER_EPOCH * u64::from(epoch),
        train_loss: 0.3,
        train_accuracy: 0.90,
        validation_loss: 0.25,
        validation_accuracy: 0.92,
        seconds: STEPS_PER_EPOCH as f32,
    }
}

/// A run in the list of models.
pub fn run_entry(
    folder: impl Into<PathBuf>,
    config: &RunConfig,
    epochs: Vec<EpochRecord>,
    stopped: bool,
) -> RunEntry {
    let folder = folder.into();
    let summary = RunSummary {
        model_path: folder.join("model.safetensors"),
        folder: folder.clone(),
        ..summary(config, epochs, stopped)
    };
    RunEntry {
        folder,
        title: summary.config.title(),
        annotation: Annotation::default(),
        summary: Ok(Box::new(summary)),
    }
}

/// What came of fine-tuning, saved or not.
pub fn fine_tuned(saved: bool) -> FineTuned {
    let summary = RunSummary {
        model_path: PathBuf::from("tuned/model.safetensors"),
        ..summary(&RunConfig::default(), Vec::new(), false)
    };
    let before = Accuracy {
        value: 0.985,
        ..tested_on(&DataSpec::builtin()).accuracy()
    };
    FineTuned {
        mine: BeforeAfter {
            images: 50,
            before: 46,
            after: 50,
        },
        held_out: Some(BeforeAfter {
            images: 10,
            before: 9,
            after: 10,
        }),
        old: BeforeAfter {
            images: 2000,
            before: 1990,
            after: 1990,
        },
        old_data: DataSpec::builtin(),
        before: Some(before),
        saved: saved.then(|| Box::new(summary)),
        seconds: 3.2,
    }
}

/// An export of two files with one weight between them.
pub fn exported(to: Option<PathBuf>) -> ExportReport {
    let file = |name: &str, tensors| FileInfo {
        name: name.to_owned(),
        about: "something".to_owned(),
        bytes: 123_456,
        tensors,
    };
    let weight = TensorInfo {
        name: "fc1.weight".to_owned(),
        shape: vec![256, 784],
        format: TensorFormat::F32,
    };
    let files = vec![
        file("model.onnx", vec![weight]),
        file("predict.py", Vec::new()),
    ];
    ExportReport {
        files,
        paths: to.into_iter().collect(),
        quantized: None,
        unmeasured: None,
    }
}

/// What an import found out of a `LeNet` with average pooling.
pub fn trials() -> Trials {
    let measured = |activation, accuracy| MeasuredReading {
        reading: Reading {
            network: ModelKind::LeNet.into(),
            activation,
            normalization: Normalization::MNIST,
        },
        accuracy,
    };
    Trials {
        images: 1000,
        tried_on: DataSpec::builtin(),
        readings: vec![
            measured(Activation::Tanh, 0.903),
            measured(Activation::Relu, 0.715),
        ],
    }
}

/// The model every engine reads with at first.
pub fn starter() -> ModelInfo {
    ModelInfo {
        reference: ModelRef::Starter,
        network: ModelKind::Speedrun.into(),
        parameters: 29_000,
        classes: Classes::Digits,
        data: DataSpec::builtin(),
        epochs: 1,
        accuracy: None,
    }
}

/// The starter model on these devices, with the median of a reading in microseconds; it reads on
/// the last.
pub fn reads(devices: &[(DeviceChoice, f32)]) -> DeviceComparison {
    let agreement = Agreement {
        images: 256,
        matching: 256,
        max_difference: 3e-6,
    };
    let of = |&(device, median_microseconds): &(DeviceChoice, f32)| {
        let figures = DeviceTiming {
            median_microseconds,
            p99_microseconds: 2.0 * median_microseconds,
            agreement,
        };
        DeviceTrial {
            device,
            outcome: Ok(figures),
        }
    };
    let device = devices.last().unwrap().0;
    DeviceComparison {
        model: ModelRef::Starter,
        device,
        trials: devices.iter().map(of).collect(),
    }
}

/// A machine of two cores, measured.
pub fn report() -> BenchmarkReport {
    let product = |threads, gflops| Measurement::Product {
        precision: Precision::F32,
        threads,
        size: 1024,
        gflops,
    };
    let step = |precision, threads, images_per_second: f64| Measurement::Step {
        model: ModelKind::ConvNet,
        device: DeviceChoice::Cpu,
        precision,
        batch_size: 128,
        threads,
        milliseconds: 128e3 / images_per_second,
        images_per_second,
        gflops: images_per_second * 0.0279,
        product_gflops: 100.0 * f64::from(threads),
    };
    BenchmarkReport {
        background_load: 0.0,
        disturbed: Vec::new(),
        version: VERSION,
        measured_at: "2026-11-21T13:00:00Z".to_owned(),
        program: "0.1.0".to_owned(),
        machine: BenchmarkedMachine {
            system: "A system".to_owned(),
            processor: "A processor".to_owned(),
            simd: vec!["AVX2".to_owned()],
            threads: 2,
        },
        effort: Effort::Full,
        seconds: 42.0,
        rows: vec![
            product(1, 100.0),
            product(2, 200.0),
            step(Precision::F32, 1, 2500.0),
            step(Precision::F32, 2, 5000.0),
            step(Precision::Bf16, 2, 2500.0),
            Measurement::ClassifyOne {
                model: ModelKind::ConvNet,
                median_microseconds: 120.0,
                p99_microseconds: 250.0,
            },
            Measurement::PlainCandle {
                model: ModelKind::ConvNet,
                batch_size: 128,
                threads: 2,
                milliseconds: 320.0,
                images_per_second: 400.0,
                inkling_images_per_second: 4800.0,
                speedup: 12.0,
            },
        ],
    }
}

/// A check in which nothing was wrong.
pub fn checked(device: DeviceChoice) -> inkling::self_test::SelfTestReport {
    let check = |precision| inkling::self_test::Check {
        subject: inkling::self_test::Subject::Training,
        precision,
        found: Some(0.2),
        tolerance: 0.6,
        detail: "a loss".to_owned(),
    };
    inkling::self_test::SelfTestReport {
        device,
        checks: Precision::on(device).map(check).collect(),
        seconds: 1.0,
    }
}

/// So many strokes look like no digit.
pub const NO_DIGIT: usize = 9;

/// What is recognized in a drawing, without details.
pub fn recognition(ink: &Ink) -> Recognition {
    explained(prediction(ink), ink, &PredictionDetails::default())
}

/// What is recognized in a drawing for which this is predicted, with these details.
pub fn explained(prediction: Prediction, ink: &Ink, details: &PredictionDetails) -> Recognition {
    let placement = PlacedInk::new(ink, &Steps::ALL).map(|placed| placed.placement);
    Recognition {
        inspection: details.inspection.then(|| inspection(ink, details.look)),
        explanation: details
            .why
            .map(|why| explanation(&prediction, placement, Some(ink), why)),
        neighborhood: (details.nearest > 0).then(|| neighborhood(1, usize::from(details.nearest))),
        micros: prediction.micros,
        prediction,
    }
}

/// The ink in the upper half speaks for the class, and a stroke below would make a drawing another
/// one.
fn explanation(
    prediction: &Prediction,
    placement: Option<Placement>,
    ink: Option<&Ink>,
    why: WhySpec,
) -> Explanation {
    let class = why.explained(prediction);
    let pixels = prediction.image.pixels().iter().enumerate();
    let values =
        pixels.map(|(pixel, gray)| f32::from(*gray) / 255.0 * if pixel < 392 { 1.0 } else { -0.5 });
    let change = ink.map(|ink| {
        let added = vec![vec![[60.0, 200.0], [180.0, 200.0]]];
        Change {
            strokes: [ink.strokes.clone(), added.clone()].concat(),
            added,
            probability: 0.81,
            ..Change::default()
        }
    });
    let is_other = class != prediction.digit && ink.is_some();
    Explanation {
        attribution: Attribution {
            class,
            values: values.collect(),
            log_odds: 3.0,
            blank: -2.0,
        },
        placement,
        counterfactual: (why.counterfactual && is_other).then_some(Counterfactual {
            class,
            change: change.filter(|_| class != 0),
        }),
        micros: 100,
    }
}

/// A map of the images that are held out, without drawings of the person.
pub fn map(id: u64) -> DigitMap {
    let spec = MapSpec {
        components: 2,
        ..MapSpec::default()
    };
    map_for(id, &spec)
}

/// The same as it was asked for: each class in a place of its own, and every tenth image read as
/// the class after its own.
pub fn map_for(id: u64, spec: &MapSpec) -> DigitMap {
    let held_out = held_out().into_iter().map(|held_out| LabeledImage {
        image: held_out.image,
        label: held_out.label,
    });
    let held_out: Vec<LabeledImage> = held_out.collect();
    let all: Vec<&LabeledImage> = held_out.iter().chain(&spec.own).collect();
    let point = |(index, labeled): (usize, &&LabeledImage)| MapPoint {
        label: labeled.label,
        answer: if index % 10 == 9 {
            (labeled.label + 1) % 10
        } else {
            labeled.label
        },
        confidence: 0.9,
    };
    let coordinates = |(index, labeled): (usize, &&LabeledImage)| {
        let at = |component: usize| match component {
            0 => f32::from(labeled.label) + 0.03 * (index % 7) as f32,
            1 => f32::from(labeled.label % 3) + 0.05 * (index % 5) as f32,
            _ => 0.01 * (index % component) as f32,
        };
        (0..spec.components).map(at).collect::<Vec<f32>>()
    };
    DigitMap {
        id,
        layer: MapLayer::Hidden { units: 84 },
        source: Some(MapSource {
            data: DataSpec::builtin(),
            split: EvaluationSplit::Validation,
        }),
        images_id: 11,
        points: all.iter().enumerate().map(point).collect(),
        own: spec.own.len(),
        coordinates: all.iter().enumerate().flat_map(coordinates).collect(),
        explained: (0..spec.components)
            .map(|of| 0.5 / (of + 1) as f32)
            .collect(),
        micros: 100,
        images: (spec.known != Some(11)).then_some(held_out),
    }
}

/// A drawing on that map beside the threes, which are nearest to it.
pub fn neighborhood(map: u64, count: usize) -> Neighborhood {
    let threes = held_out().into_iter().filter(|it| it.label == 3);
    let near = |(index, it): (usize, HeldOutImage)| NearImage {
        labeled: LabeledImage {
            image: it.image,
            label: it.label,
        },
        distance: 0.5 + index as f32,
    };
    let mut coordinates = vec![0.0; COMPONENTS];
    (coordinates[0], coordinates[1]) = (3.4, 0.4);
    Neighborhood {
        map,
        coordinates,
        nearest: threes.enumerate().map(near).take(count).collect(),
        among: 10_000,
        trained: true,
    }
}

/// A small network at work on a drawing.
pub fn inspection(ink: &Ink, look: Option<UnitSelection>) -> Inspection {
    let image = rasterize_steps(ink, &Steps::ALL);
    let net = Net::new(ModelKind::Tiny, Activation::Relu, 10, 1).unwrap();
    net.inspect(image.pixels(), look).unwrap()
}

/// As many strokes, that digit, nearly sure.
pub fn prediction(ink: &Ink) -> Prediction {
    let digit = (ink.strokes.len() % 10) as u8;
    let mut probabilities = vec![0.005; 10];
    probabilities[usize::from(digit)] = 0.955;
    Prediction {
        uncertainty: None,
        image: Image::BLANK,
        probabilities,
        digit,
        confidence: 0.955,
        digit_score: 9.0,
        is_digit: ink.strokes.len() != NO_DIGIT,
        micros: 800,
        device: DeviceChoice::Cpu,
        model: starter(),
    }
}

/// A digit for each stroke: the number of its points.
pub fn digits(ink: &Ink, steps: &Steps) -> Vec<DigitPrediction> {
    let digit = |(index, stroke): (usize, &Vec<[f32; 2]>)| {
        let points = Ink {
            strokes: vec![Vec::new(); stroke.len()],
            pen: None,
        };
        let image = Writing::of_ink_with(ink, steps).image(index..index + 1);
        let prediction = Prediction {
            image,
            ..prediction(&points)
        };
        DigitPrediction {
            bounds: Bounds::of(stroke.iter().copied()).rectangle(),
            pieces: index..index + 1,
            prediction,
            explanation: None,
        }
    };
    ink.strokes.iter().enumerate().map(digit).collect()
}

/// Ten images of each digit.
pub fn held_out() -> Vec<HeldOutImage> {
    let image = |index: u8| HeldOutImage {
        image: Image::new(std::array::from_fn(|place| (place % 200) as u8)),
        label: index / 10,
    };
    (0..100).map(image).collect()
}

/// The first `correct` of these images are recognized, the others taken for another digit.
pub fn learning(step: u64, correct: usize) -> HeldOutSnapshot {
    let answer = |index: usize| {
        let label = (index / 10) as u8;
        let digit = if index < correct {
            label
        } else {
            (label + 1) % 10
        };
        HeldOutAnswer {
            digit,
            probability: 0.62,
            label_probability: if digit == label { 0.62 } else { 0.3 },
        }
    };
    let first_layer = Some(FilterImages {
        width: 5,
        height: 5,
        images: vec![vec![200; 25], vec![60; 25]],
    });
    HeldOutSnapshot {
        step,
        answers: (0..100).map(answer).collect(),
        first_layer,
    }
}

/// What a network makes of so many images after this step: it takes all for the same digit.
pub fn look(step: u64, images: usize) -> ModelLook {
    let digit = if step < 5 { 8 } else { 4 };
    ModelLook {
        digits: vec![digit; images],
        first_layer: learning(step, 0).first_layer,
    }
}

/// Ten images of each digit, one 4 read as 9, which is suspected to be one.
pub fn evaluation() -> Evaluation {
    let mut confusion = vec![vec![0; 10]; 10];
    for (digit, row) in confusion.iter_mut().enumerate() {
        row[digit] = 10;
    }
    (confusion[4][4], confusion[4][9]) = (9, 1);
    let mut reliability = [ReliabilityBin::default(); RELIABILITY_BINS];
    reliability[13] = ReliabilityBin {
        images: 20,
        correct: 19,
        confidence: 0.92,
    };
    reliability[14] = ReliabilityBin {
        images: 80,
        correct: 80,
        confidence: 0.99,
    };
    let sample = |index, label, answer, confidence| Sample {
        index,
        image: Image::BLANK,
        label,
        answer,
        confidence,
        label_probability: if label == answer { confidence } else { 0.05 },
        suggestion: None,
    };
    let suspect = Sample {
        suggestion: Some(Suggestion {
            label: 9,
            probability: 0.93,
        }),
        ..sample(44, 4, 9, 0.93)
    };
    Evaluation {
        images: 100,
        accuracy: 0.99,
        loss: 0.04,
        confusion,
        samples: vec![suspect, sample(11, 1, 1, 0.88), sample(77, 7, 7, 0.99)],
        suspected: 1,
        reliability,
    }
}

/// That result on the test images of this data set.
pub fn tested_on(data: &DataSpec) -> SplitEvaluation {
    SplitEvaluation {
        data: data.tested(),
        split: EvaluationSplit::Test,
        evaluation: evaluation(),
    }
}

/// What an evaluation of a model with that result reports.
pub fn evaluation_report(model: ModelInfo, data: &DataSpec) -> EvaluationReport {
    let writers = vec![WriterScore {
        writer: "Ada".to_owned(),
        images: 100,
        correct: 99,
    }];
    let labels = vec![LabelRejection {
        label: 'é',
        drawings: 8,
        rejected: 7,
    }];
    let detection = DigitDetection {
        auroc: 0.97,
        digits: 100,
        kept: 95,
        not_digits: 8,
        rejected: 7,
        labels,
    };
    EvaluationReport {
        model,
        measured: tested_on(data),
        writers,
        detection: Some(detection),
    }
}

/// What such a run computes. A comparison on 1,000 images, of which the first model classifies 950
/// correctly and every further one 20 more.
pub fn model_comparison(spec: &ComparisonSpec) -> ModelComparison {
    let model = |(position, reference): (usize, &ModelRef)| {
        let correct = 950 + 20 * position as u64;
        ComparedModel {
            model: ModelInfo {
                reference: reference.clone(),
                ..starter()
            },
            config: RunConfig {
                epochs: position as u32 + 1,
                ..RunConfig::default()
            },
            train_seconds: (position > 0).then_some(62.0),
            correct,
            correct_digits: vec![correct / 10; 10],
            // What a better model classifies correctly includes what a worse one does, but for five
            // images.
            only_correct: (0..spec.models.len())
                .map(|other| {
                    if other == position {
                        0
                    } else {
                        5 + 20 * position.saturating_sub(other) as u64
                    }
                })
                .collect(),
        }
    };
    ModelComparison {
        data: spec.data.clone().unwrap_or_else(DataSpec::builtin),
        split: EvaluationSplit::Test,
        images: 1000,
        digits: vec![100; 10],
        models: spec.models.iter().enumerate().map(model).collect(),
    }
}

/// A step of the starter model's network, with what it did to the second filter of its first layer.
pub fn single_step() -> SingleStep {
    let update = |before: &[f32]| Update {
        before: before.to_vec(),
        gradient: before.iter().map(|x| x / 100.0).collect(),
        after: before.iter().map(|x| x - x / 1000.0).collect(),
    };
    let weights: Vec<f32> = (0..9).map(|index| index as f32 / 10.0 - 0.4).collect();
    SingleStep {
        step: 41,
        learning_rate: 0.001,
        images: 128,
        losses: [0.5, 0.25],
        unit: Some(UnitUpdate {
            name: UnitName {
                layer: "conv1".to_owned(),
                unit: 1,
            },
            weights: update(&weights),
            bias: Some(update(&[0.1])),
        }),
    }
}

pub fn plan(config: &RunConfig) -> RunPlan {
    RunPlan {
        train_images: 9_000,
        validation_images: 1_000,
        test_images: 100,
        parameters: 29_000,
        classes: config.data.classes(),
        steps_per_epoch: STEPS_PER_EPOCH,
        total_steps: STEPS_PER_EPOCH * u64::from(config.epochs),
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        threads: 2,
    }
}

/// What such a run comes to.
pub fn summary(config: &RunConfig, epochs: Vec<EpochRecord>, stopped: bool) -> RunSummary {
    RunSummary {
        posterior_samples: 0,
        snapshots: Vec::new(),
        config: config.clone(),
        plan: plan(config),
        folder: PathBuf::from("runs/one"),
        model_path: PathBuf::from("runs/one/model.safetensors"),
        finished_at: "2026-11-21T13:00:00Z".to_owned(),
        stopped,
        stopped_early: false,
        kept_epoch: epochs.last().map(|record| record.epoch),
        train_seconds: epochs.iter().map(|record| f64::from(record.seconds)).sum(),
        images_per_second: 4000.0,
        rate_changes: Vec::new(),
        test: (!stopped).then(|| tested_on(&config.data)),
        machine: "A processor, 2 cores".to_owned(),
        initialization: None,
        imported: None,
        number: None,
        epochs,
    }
}

/// The larger the batch size, the sooner the accuracy is reached, but for the largest.
fn time_to_accuracy(config: &RunConfig, batch_size: u32) -> TimeToAccuracy {
    let seconds = 400.0 / f64::from(batch_size);
    let reached = Reached {
        seconds,
        steps: 9000.0 / f64::from(batch_size),
        images: 9000.0,
    };
    TimeToAccuracy {
        batch_size,
        learning_rate: config.learning_rate,
        images_per_second: 9000.0 / seconds,
        reached: (batch_size < 512).then_some(reached),
        best_accuracy: 0.941,
        seconds,
        diverged: batch_size == 1024,
    }
}

/// A card of runs with these test accuracies.
pub fn record_card(preset: Preset, data: &str, accuracies: [f64; 2]) -> RecordCard {
    let run = |(seed, test_accuracy)| SeedRun {
        seed,
        validation_accuracy: 0.9,
        test_accuracy,
        seconds: RunSeconds::default(),
    };
    RecordCard {
        version: CARD_VERSION,
        measured_at: String::new(),
        program: String::new(),
        machine: String::new(),
        device: DeviceChoice::Cpu,
        parameters: 1,
        test_images: 100,
        config: RunConfig {
            data: data.parse().unwrap(),
            ..RunConfig::preset(preset)
        },
        runs: (1..).zip(accuracies).map(run).collect(),
        hard: Vec::new(),
    }
}
