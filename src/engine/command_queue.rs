//! Owns what the engine can do at any moment, also between two micro-batches of a run: take commands in, choose the
//! classifier, read the latest drawing, export a model. Must not train or measure: commands that mean such work leave as orders.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::devices::Devices;
use super::event_sink::EventSink;
use super::inference_device::InferenceDevice;
use super::jobs::export;
use super::supervisor::WorkerContext;
use crate::infer::{Classifier, Classify};
use crate::ink::Ink;
use crate::problem::Problem;
use crate::protocol::{Command, Event, Task};
use crate::records::benchmark::{Extent, Side};
use crate::records::{ExportSpec, ImportSpec, ModelRef, RunId};
use crate::run_config::{DataSpec, RunConfig};

/// How often the comparison of reading devices is looked at while nothing else is asked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A command that changes what the engine works on.
#[derive(Debug)]
pub(super) enum Order {
    Start {
        run: RunId,
        config: Box<RunConfig>,
        from: Option<PathBuf>,
    },
    Pause(RunId),
    Resume(RunId),
    Stop(RunId),
    Evaluate {
        request: u64,
        model: ModelRef,
        data: DataSpec,
    },
    CancelEvaluation(u64),
    Benchmark {
        request: u64,
        extent: Extent,
    },
    Compare {
        request: u64,
        config: Box<RunConfig>,
        sides: Vec<Side>,
    },
    CancelBenchmark(u64),
    /// One that takes measuring.
    Export {
        request: u64,
        model: ModelRef,
        spec: ExportSpec,
        to: PathBuf,
    },
    CancelExport(u64),
    Import {
        request: u64,
        spec: Box<ImportSpec>,
    },
    Shutdown,
}

impl Order {
    /// True for what breaks a measurement off: what a person asked for last goes first.
    pub const fn preempts(&self) -> bool {
        matches!(
            self,
            Self::Start { .. }
                | Self::Evaluate { .. }
                | Self::Benchmark { .. }
                | Self::Compare { .. }
                | Self::Export { .. }
                | Self::Import { .. }
                | Self::Shutdown
        )
    }
}

/// The engine's command queue.
pub(super) struct CommandQueue<'a> {
    commands: &'a mut Receiver<Command>,
    pub events: &'a mut EventSink,
    current: &'a mut Option<Task>,
    orders: VecDeque<Order>,
    drawing: Option<(u64, Ink)>,
    /// The model that reads, on the processor.
    classifier: Option<Classifier>,
    /// Where it reads.
    inference_device: InferenceDevice,
    /// Reads with the newest weights of the run that is under way.
    learning: Option<(RunId, Classifier)>,
    /// True while the learning classifier reads.
    following: bool,
}

impl<'a> CommandQueue<'a> {
    pub fn open(context: WorkerContext<'a>, devices: Arc<dyn Devices>) -> Self {
        let WorkerContext { commands, events, current } = context;
        let inference_device = InferenceDevice::new(devices);
        let (orders, drawing) = (VecDeque::new(), None);
        let mut queue =
            Self { commands, events, current, orders, drawing, classifier: None, inference_device, learning: None, following: false };
        queue.read_with(&ModelRef::Starter);
        queue
    }

    /// Notes what the engine is busy with.
    pub fn busy_with(&mut self, task: Option<Task>) {
        if task.is_some() {
            self.inference_device.postpone();
        }
        *self.current = task;
    }

    /// Serves what waits and gives the next order, if there is one.
    pub fn poll(&mut self) -> Option<Order> {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.take(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.orders.push_back(Order::Shutdown);
                    break;
                }
            }
        }
        self.read();
        self.orders.pop_front()
    }

    /// Waits until there is an order, serving readings meanwhile.
    pub fn wait(&mut self) -> Order {
        loop {
            if let Some(order) = self.poll() {
                return order;
            }
            // While a run is held, too, nothing is compared.
            if self.current.is_none()
                && let Some(classifier) = &self.classifier
                && let Some(report) = self.inference_device.poll(classifier)
            {
                self.events.send(Event::InferenceDevice(report));
            }
            let patience = if self.inference_device.is_comparing() { POLL_INTERVAL } else { Duration::MAX };
            match self.commands.recv_timeout(patience) {
                Ok(command) => self.take(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Order::Shutdown,
            }
        }
    }

    /// Puts an order back, to be given next.
    pub fn requeue(&mut self, order: Order) {
        self.orders.push_front(order);
    }

    /// There are newer weights of a run to read with; `follow` makes them the ones that read.
    pub fn learned(&mut self, run: RunId, classifier: Classifier, follow: bool) {
        self.following |= follow;
        if self.following {
            self.events.send(Event::ModelInUse(classifier.info().clone()));
        }
        self.learning = Some((run, classifier));
    }

    /// The run is over: who followed it reads with what it left, or as before.
    pub fn run_ended(&mut self, left: Option<Classifier>) {
        self.learning = None;
        if std::mem::take(&mut self.following) {
            if left.is_some() {
                self.classifier = left;
                self.inference_device.restart();
            }
            if let Some(classifier) = &self.classifier {
                self.events.send(Event::ModelInUse(classifier.info().clone()));
            }
        }
    }

    fn take(&mut self, command: Command) {
        let order = match command {
            Command::Start { run, config, from } => Order::Start { run, config: Box::new(config), from },
            Command::Pause(run) => Order::Pause(run),
            Command::Resume(run) => Order::Resume(run),
            Command::Stop(run) => Order::Stop(run),
            Command::Evaluate { request, model, data } => Order::Evaluate { request, model, data },
            Command::CancelEvaluation(request) => Order::CancelEvaluation(request),
            Command::Benchmark { request, extent } => Order::Benchmark { request, extent },
            Command::Compare { request, config, sides } => Order::Compare { request, config: Box::new(config), sides },
            Command::CancelBenchmark(request) => Order::CancelBenchmark(request),
            Command::Export { request, model, spec, to: Some(to) } if spec.is_quantized() => Order::Export { request, model, spec, to },
            Command::Export { request, model, spec, to } => return self.export(request, &model, &spec, to.as_deref()),
            Command::CancelExport(request) => Order::CancelExport(request),
            Command::Import { request, spec } => Order::Import { request, spec: Box::new(spec) },
            Command::Shutdown => Order::Shutdown,
            Command::Ping => return self.events.send(Event::Pong),
            Command::UseModel(model) => return self.read_with(&model),
            Command::ChooseInferenceDevice { choice, usable } => return self.inference_device.choose(choice, usable),
            Command::Classify { request, ink } => {
                self.drawing = Some((request, ink));
                return;
            }
        };
        self.orders.push_back(order);
    }

    fn read_with(&mut self, model: &ModelRef) {
        let loaded = match model {
            ModelRef::Training(run) => match &self.learning {
                Some((learning, classifier)) if learning == run => {
                    self.following = true;
                    self.events.send(Event::ModelInUse(classifier.info().clone()));
                    return;
                }
                _ => Err(Problem::NoSuchRun),
            },
            ModelRef::Starter => Classifier::starter().map_err(Problem::from),
            ModelRef::File(path) => Classifier::open(path).map_err(Problem::from),
        };
        match loaded {
            Ok(classifier) => {
                self.events.send(Event::ModelInUse(classifier.info().clone()));
                self.classifier = Some(classifier);
                self.inference_device.restart();
                self.following = false;
            }
            Err(problem) => self.events.send(Event::Failed { what: Task::Model, problem }),
        }
    }

    /// Exports without measuring anything.
    fn export(&mut self, request: u64, model: &ModelRef, spec: &ExportSpec, to: Option<&Path>) {
        let before = self.current.replace(Task::Export(request));
        self.events.send(match export::subject(model).and_then(|subject| export::write(subject, spec, to)) {
            Ok(export) => Event::Exported { request, export: Box::new(export) },
            Err(problem) => Event::Failed { what: Task::Export(request), problem },
        });
        *self.current = before;
    }

    fn read(&mut self) {
        let Some((request, ink)) = self.drawing.take() else { return };
        let before = self.current.replace(Task::Classify(request));
        let learning = self.learning.as_ref().filter(|_| self.following).map(|(_, classifier)| classifier);
        let (prediction, report) = match (learning, &self.classifier) {
            (Some(learning), _) => (learning.classify_drawing(&ink).map_err(Problem::from), None),
            (None, Some(classifier)) => {
                let (reading, report) = self.inference_device.classify(classifier, &ink);
                (reading.map_err(Problem::from), report)
            }
            (None, None) => (Err(Problem::NoSuchRun), None),
        };
        if let Some(report) = report {
            self.events.send(Event::InferenceDevice(report));
        }
        self.events.send(match prediction {
            Ok(prediction) => Event::Classified { request, prediction: Box::new(prediction) },
            Err(problem) => Event::Failed { what: Task::Classify(request), problem },
        });
        *self.current = before;
    }
}
