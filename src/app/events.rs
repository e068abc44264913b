//! Owns what comes in by itself: events of the engine and findings of background jobs.
//! Must not trust it to be fresh: what belongs to another run, drawing or measurement is dropped.

use std::time::{Duration, Instant};

use super::background::BackgroundResult;
use super::machine::Checked;
use super::messages::Message;
use super::models::ResultsView;
use super::notice::{Notice, Severity};
use super::run::{LastCheckpoint, Phase, RunView};
use super::state::App;
use crate::problem::Problem;
use crate::protocol::{Event, Task};
use crate::records::{Intervention, ModelRef, RunId};
use crate::run_config::DeviceChoice;

/// A drawing left alone is read again this often while the weights that read it are being trained, in seconds.
const REREAD: f32 = 0.5;

impl App {
    /// Takes in everything that has come; gives when to look again even if nothing comes.
    pub fn poll(&mut self) -> Option<Duration> {
        while self.engine_alive {
            match self.engine.try_recv() {
                Ok(Some(event)) => {
                    self.engine_responded = true;
                    self.on_event(event);
                }
                Ok(None) => break,
                Err(_) => self.engine_is_gone(),
            }
        }
        while let Some(finding) = self.background.next() {
            self.on_finding(finding);
        }
        self.catch_up_on_reading();
        self.update_desktop();
        self.sample_monitor();
        let expiry = self.expire_notices();
        [self.autosave_settings(), expiry].into_iter().flatten().min()
    }

    /// Takes in one event of the engine.
    pub fn on_event(&mut self, event: Event) {
        match event {
            Event::Preparing { run, fraction } => {
                if let Some(run) = self.current(run)
                    && matches!(run.phase, Phase::Preparing(_))
                {
                    run.phase = Phase::Preparing(fraction);
                }
            }
            Event::Started { run, plan, before, folder } => {
                if let Some(run) = self.current(run) {
                    run.checkpoints = Some(folder);
                    run.history.rewind(before);
                    run.plan = Some(plan);
                    if matches!(run.phase, Phase::Preparing(_)) {
                        run.phase = Phase::Training;
                    }
                }
            }
            Event::Progress { run: id, steps, now } => {
                if let Some(run) = self.current(id) {
                    run.history.steps.extend(steps);
                    run.history.telemetry.push(now);
                    run.now = now;
                    self.reread(id, now.elapsed_seconds);
                }
            }
            Event::Epoch { run, record } => {
                if let Some(run) = self.current(run) {
                    run.history.epochs.push(record);
                }
            }
            Event::Intervened { run, intervention } => {
                // An f16 run skips steps now and then; once is news, the rest is in its figures.
                let skips = matches!(intervention, Intervention::SkippedStep { .. });
                let Some(run) = self.current(run) else { return };
                let news = !skips || run.now.skipped_steps == 0;
                if !skips {
                    run.interventions.push(intervention);
                }
                if news {
                    self.show_notice(Severity::Info, Message::intervened(&intervention));
                }
            }
            Event::Checkpoint { run, folder, epochs, kept } => self.on_checkpoint(run, LastCheckpoint { folder, epochs }, kept),
            Event::Paused(run) => self.turn(run, |_| Phase::Paused),
            Event::Resumed(run) => self.turn(run, |run| if run.plan.is_some() { Phase::Training } else { Phase::Preparing(0.0) }),
            Event::Finished { run, summary } => {
                if self.current(run).is_some() {
                    self.show_test(&summary);
                    self.show_notice(Severity::Info, Message::run_finished(&summary));
                    self.end(run, Phase::Finished(summary));
                }
                self.list_runs();
                self.arrange_reading();
            }
            Event::Discarded(run) => {
                self.end(run, Phase::Discarded);
                self.list_interrupted();
                self.arrange_reading();
            }
            Event::Failed { what, problem } => self.on_failure(what, &problem),
            Event::ModelInUse(model) => {
                let other =
                    self.model_in_use.as_ref().is_none_or(|model| model.reference != model.reference || model.epochs != model.epochs);
                self.model_in_use = Some(model);
                if other && !self.drawing.strokes().is_empty() {
                    self.drawing_changed();
                }
            }
            Event::InferenceDevice(report) => self.on_reading_report(report),
            Event::Classified { request, prediction } => {
                if let Some(next) = self.predictions.answered(request, *prediction) {
                    self.classify(next);
                }
            }
            Event::Evaluating { request, fraction } => {
                if self.evaluation == Some(request) {
                    self.evaluating = Some(fraction);
                }
            }
            Event::Evaluated { request, model, data, evaluation } => {
                if self.evaluation_ended(request) {
                    self.results = Some(ResultsView { model, data, evaluation: *evaluation });
                }
            }
            Event::EvaluationCancelled(request) => {
                self.evaluation_ended(request);
            }
            Event::Benchmarking { request, subject, fraction, remaining_seconds } => {
                if let Some(under_way) = self.benchmark.current(request) {
                    (under_way.subject, under_way.fraction, under_way.remaining_seconds) = (Some(subject), fraction, remaining_seconds);
                }
            }
            Event::BenchmarkRow { request, row } => {
                if let Some(under_way) = self.benchmark.current(request) {
                    under_way.rows.push(row);
                }
            }
            Event::Benchmarked { request, report, saved } => {
                if self.benchmark.ended(request) {
                    let complaint = saved.as_ref().err().cloned();
                    self.benchmark.last = Some((*report, saved.ok()));
                    if let Some(problem) = complaint {
                        self.show_problem(&problem);
                    }
                }
            }
            Event::Compared { request, failed } => self.compared(request, failed),
            Event::BenchmarkCancelled(request) => {
                self.benchmark.ended(request);
            }
            Event::Exporting { request, fraction } => self.exporting(request, fraction),
            Event::Exported { request, export } => self.exported(request, *export),
            Event::ExportCancelled(request) => {
                self.export_ended(request);
            }
            Event::Imported { request, summary, finding } => self.imported(request, &summary, &finding),
            Event::Pong => {}
            Event::EngineExited(loss) => self.engine_is_lost(loss),
            Event::Restarted => {
                self.engine_lost_everything();
                self.list_interrupted();
                self.show_notice(Severity::Error, Message::engine_restarted());
            }
        }
    }

    fn on_failure(&mut self, what: Task, problem: &Problem) {
        let ours = match what {
            Task::Run(run) => {
                let ours = self.current(run).is_some();
                // Going on from where a run went astray would lead there again.
                if matches!(problem, Problem::Diverged { .. })
                    && let Some(run) = self.current(run)
                {
                    run.checkpoint = None;
                }
                self.end(run, Phase::Failed);
                self.list_interrupted();
                self.arrange_reading();
                ours
            }
            Task::Evaluation(request) => self.evaluation_ended(request),
            Task::Benchmark(request) => self.benchmark.ended(request),
            Task::Export(request) => self.export_ended(request),
            Task::Import(request) => self.import_ended(request),
            Task::Classify(request) => {
                if let Some(next) = self.predictions.failed(request) {
                    self.classify(next);
                }
                true
            }
            Task::Model => true,
        };
        if ours {
            self.show_problem(problem);
        }
    }

    fn on_checkpoint(&mut self, run: RunId, checkpoint: LastCheckpoint, kept: Result<(), Problem>) {
        let Some(run) = self.current(run) else { return };
        match kept {
            Ok(()) => run.checkpoint = Some(checkpoint),
            // Once is enough: a full disk does not empty by itself.
            Err(problem) => {
                if !std::mem::replace(&mut run.complained, true) {
                    self.show_notice(Severity::Info, Message::checkpoint_not_kept(&problem));
                }
            }
        }
    }

    fn on_finding(&mut self, finding: BackgroundResult) {
        match finding {
            // What was found while the libraries were looked for elsewhere is overtaken.
            BackgroundResult::Hardware { folder, .. } | BackgroundResult::Checked { folder, device: DeviceChoice::Cuda, .. }
                if folder != self.settings.cuda_folder => {}
            BackgroundResult::Hardware { hardware, .. } => {
                self.looking_for_cuda = false;
                self.hardware = Some(*hardware);
                self.check_gpu();
                self.follow_recommendation();
            }
            BackgroundResult::Data(found) => {
                self.found = Some(found);
                self.follow_recommendation();
            }
            BackgroundResult::Runs(runs) => self.runs = Some(runs),
            BackgroundResult::Checked { device, found, .. } => {
                self.checks.insert(device, Checked::Done(found));
                self.arrange_reading();
            }
            BackgroundResult::Interrupted(runs) => self.set_interrupted(runs),
            BackgroundResult::EngineExited { loss, was_training, interrupted } => {
                self.set_interrupted(interrupted);
                let left = self.interrupted_checkpoint().map(|last| last.epochs).filter(|_| was_training);
                self.show_notice(Severity::Error, Message::engine_exited(&Problem::EngineExited(loss), was_training, left));
            }
            BackgroundResult::Benchmark(kept) => {
                if let (None, Some(kept)) = (&self.benchmark.last, kept) {
                    let (report, saved) = *kept;
                    self.benchmark.last = Some((report, Some(saved)));
                }
            }
            BackgroundResult::Load(reading) => self.monitor.take(reading),
            BackgroundResult::DataFolder(folder) => self.use_data_folder(folder),
            BackgroundResult::CudaFolder(folder) => self.use_cuda_folder(Some(folder)),
            BackgroundResult::Ink { file, ink, only } => self.on_ink(&file, &ink, only),
            BackgroundResult::StaysAwake(awake) => self.on_awake(awake),
            BackgroundResult::NotificationClicked => self.raise_window(),
            BackgroundResult::ExportTo(path) => self.export_to(path),
            BackgroundResult::ImportFrom(path) => self.import(path),
            BackgroundResult::Written(path) => self.show_notice(Severity::Info, Message::written(&path)),
            BackgroundResult::SettingsSaved(outcome) => {
                if let Some(problem) = self.autosave.wrote(outcome) {
                    self.show_notice(Severity::Info, Message::settings_not_saved(&problem));
                }
            }
            BackgroundResult::Failed(problem) => self.show_problem(&problem),
        }
    }

    /// The engine is gone: what it was doing is over; a fresh one takes its place, unless this one never worked.
    pub(super) fn engine_is_gone(&mut self) {
        self.engine_lost_everything();
        if self.engine_responded {
            self.reconnect();
            self.show_notice(Severity::Error, Message::engine_restarted());
        } else {
            self.engine_alive = false;
            self.show_problem(&Problem::EngineGone);
        }
    }

    pub(super) fn engine_lost_everything(&mut self) {
        if let Some(id) = self.run.as_ref().filter(|run| run.is_active()).map(|run| run.id) {
            self.end(id, Phase::Failed);
        }
        (self.evaluation, self.evaluating) = (None, None);
        self.benchmark.under_way = None;
        self.importing = None;
        self.export = None;
        self.predictions.forget_request();
    }

    /// The run with this name, if it is under way.
    fn current(&mut self, id: RunId) -> Option<&mut RunView> {
        self.run.as_mut().filter(|run| run.id == id && run.is_active())
    }

    /// Puts the run into another phase, unless it is being stopped.
    fn turn(&mut self, id: RunId, phase: impl FnOnce(&RunView) -> Phase) {
        if let Some(run) = self.current(id)
            && run.phase != Phase::Stopping
        {
            run.phase = phase(run);
        }
    }

    fn end(&mut self, id: RunId, phase: Phase) {
        if let Some(run) = self.current(id) {
            run.phase = phase;
        }
    }

    /// True when it was the measurement under way.
    fn evaluation_ended(&mut self, request: u64) -> bool {
        let ours = self.evaluation == Some(request);
        if ours {
            (self.evaluation, self.evaluating) = (None, None);
        }
        ours
    }

    /// Reads the drawing again with the weights as they are now, so that one sees them learn.
    fn reread(&mut self, run: RunId, elapsed: f32) {
        let learning = self.model_in_use.as_ref().is_some_and(|model| model.reference == ModelRef::Training(run));
        if learning && !self.drawing.strokes().is_empty() && !self.predictions.is_behind() && elapsed - self.reread_at >= REREAD {
            self.reread_at = elapsed;
            self.drawing_changed();
        }
    }

    fn expire_notices(&mut self) -> Option<Duration> {
        let now = Instant::now();
        self.notices.retain(|notice| notice.expires().is_none_or(|end| end > now));
        self.notices.iter().filter_map(Notice::expires).map(|end| end - now).min()
    }
}
