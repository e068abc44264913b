//! Starting, queuing, pausing and stopping a run, and the phases that follow from it.

use std::path::PathBuf;

use super::{LastCheckpoint, Phase, RunView};
use crate::problem::{Code, Message, Problem};
use crate::protocol::{Command, Job, JobResult};
use crate::records::{JobId, RunPosition, RunSummary};
use crate::run_config::{Chosen, RunConfig};
use crate::runs::{RunEntry, missing_repetitions};
use crate::window::{
    App, Ctx, JobOutcome, MyDigitsView, Request, RunningJob, Screen, Severity, Train, WithoutResult,
};

impl App {
    pub fn run_ended(&mut self, ended: &RunningJob, outcome: JobOutcome) -> Option<Problem> {
        let id = ended.id;
        self.lessons.run_ended(ended, &outcome);
        let Self { ctx, train, .. } = self;
        match outcome {
            Ok(JobResult::Train(summary)) => self.run_finished(id, summary),
            Ok(_) => {}
            Err(WithoutResult::EngineGone) => {
                if let Some(run) = train.active_run(id) {
                    run.phase = Phase::Failed;
                }
            }
            Err(WithoutResult::Cancelled) => {
                train.end_run(ctx, id, Phase::Discarded);
                ctx.list_interrupted();
                // Train shows it above the curves, with a button to resume it.
                if ctx.screen != Screen::Train && train.interrupted_checkpoint().is_some() {
                    ctx.show_notice(Severity::Info, Message::stopped_unfinished());
                }
            }
            Err(WithoutResult::Failed(problem)) => {
                if let Some(run) = train.active_run(id)
                    && problem.code == Code::Diverged
                {
                    // Resumed from where it diverged, it would diverge again.
                    run.checkpoint = None;
                }
                train.end_run(ctx, id, Phase::Failed);
                ctx.list_interrupted();
                let is_fitted = train.fit_to_small_data(ctx, &ended.job, &problem);
                return (!is_fitted).then_some(problem);
            }
        }
        None
    }

    fn run_finished(&mut self, id: JobId, summary: RunSummary) {
        let Self { ctx, train, .. } = self;
        // Train shows it large, unless the next run begins there.
        if ctx.screen != Screen::Train || !train.queue.is_empty() {
            ctx.show_notice(Severity::Info, Message::run_finished(&summary));
        }
        let run = train.run.as_ref();
        if run.is_some_and(|run| run.id == id && run.has_folder) {
            let saved = Message::saved_in_its_folder(&summary.folder);
            ctx.show_notice(Severity::Info, saved);
        }
        let stopped = summary.stopped;
        self.sweeps.note_sweep_test(ctx, id, &summary);
        self.models.check_reproduction(ctx, id, &summary);
        train.end_run(ctx, id, Phase::Finished(Box::new(summary)));
        ctx.list_runs();
        if !stopped {
            train.start_queued(ctx);
        }
    }
}

impl Ctx {
    /// The runs that the current configuration asks for; at least one.
    pub fn repetitions(&self) -> Vec<RunConfig> {
        self.with_device(&self.config)
            .repetitions(&jiff::Timestamp::now().to_string())
    }
}

impl Train {
    pub fn stop(&mut self, ctx: &mut Ctx) {
        let preparing = Phase::Preparing(0.0);
        let phases = [preparing, Phase::Training, Phase::Paused, Phase::NotSaved];
        self.send_to_run(ctx, Command::Cancel, &phases);
        self.set_stopping();
    }

    /// Tries again to save the run that could not be, in this folder if there is one.
    pub fn save_run(&mut self, ctx: &mut Ctx, folder: Option<PathBuf>) {
        self.send_to_run(ctx, |run| Command::Save { run, folder }, &[Phase::NotSaved]);
    }

    pub fn run_not_saved(
        &mut self,
        ctx: &mut Ctx,
        id: JobId,
        problem: &Problem,
        checkpoint: Option<RunPosition>,
    ) {
        let message = Message::run_not_saved(problem, checkpoint);
        if let Some(run) = self.active_run(id) {
            // Also while it is being stopped: nothing of it could be saved.
            run.phase = Phase::NotSaved;
            let last = run.checkpoints.clone().zip(checkpoint);
            run.checkpoint = last.map(|(folder, position)| LastCheckpoint { folder, position });
            self.withdraw_not_saved(ctx, id, Some(message.clone()));
            ctx.show_notice(Severity::Error, message);
        }
    }

    /// Sends the command for the run, if it is in one of these phases.
    pub fn send_to_run(
        &mut self,
        ctx: &mut Ctx,
        command: impl FnOnce(JobId) -> Command,
        phases: &[Phase],
    ) {
        let of = std::mem::discriminant::<Phase>;
        let fits = |run: &&RunView| phases.iter().any(|phase| of(phase) == of(&run.phase));
        if let Some(id) = self.run.as_ref().filter(fits).map(|run| run.id) {
            ctx.send(command(id));
        }
    }

    /// The run of this name, while it is in progress.
    pub fn active_run(&mut self, id: JobId) -> Option<&mut RunView> {
        let run = self.run.as_mut();
        run.filter(|run| run.id == id && run.is_active())
    }

    /// Puts the run into another phase, unless it is being stopped.
    pub fn set_run_phase(&mut self, id: JobId, phase: impl FnOnce(&RunView) -> Phase) {
        if let Some(run) = self.active_run(id)
            && run.phase != Phase::Stopping
        {
            run.phase = phase(run);
        }
    }

    pub fn run_is_preparing(&mut self, id: JobId, fraction: f32) {
        if let Some(run) = self.active_run(id)
            && matches!(run.phase, Phase::Preparing(_))
        {
            run.phase = Phase::Preparing(fraction);
        }
    }

    fn end_run(&mut self, ctx: &mut Ctx, id: JobId, phase: Phase) {
        self.withdraw_not_saved(ctx, id, None);
        if let Some(run) = self.active_run(id) {
            run.phase = phase;
        }
    }

    /// Takes back that the run could not be saved: it was, or not for another reason.
    fn withdraw_not_saved(&mut self, ctx: &mut Ctx, id: JobId, now: Option<Message>) {
        let run = self.active_run(id);
        if let Some(before) = run.and_then(|run| std::mem::replace(&mut run.not_saved, now)) {
            ctx.notices.retain(|notice| notice.message != before);
        }
    }
}

impl App {
    /// Interrupts the run or the sweep, so that it can be resumed, and ends the engine: for the end
    /// of this process.
    pub fn interrupt(&mut self) {
        self.train.set_stopping();
        self.sweeps.interrupt_sweep(&self.ctx);
        self.ctx.engine.ending = true;
        self.ctx.engine.handle.send(Command::Interrupt);
    }
}

impl Train {
    pub fn start(&mut self, ctx: &mut Ctx, mine: &MyDigitsView) {
        if ctx.is_at_long_work() || !self.validation_errors(ctx, mine).is_empty() {
            return;
        }
        let mut runs = ctx.repetitions();
        let first = runs.remove(0);
        self.queue.splice(0..0, runs);
        let id = JobId(ctx.next_id());
        self.start_run(ctx, RunView::new(id, first), None);
    }

    /// Starts a run again that was refused because its batches are larger than its data, with
    /// settings that fit, with a notice; false if that is not the problem.
    pub fn fit_to_small_data(&mut self, ctx: &mut Ctx, job: &Job, problem: &Problem) -> bool {
        let (Job::Train { config, from: None }, Code::BatchLargerThanSet { images }) =
            (job, &problem.code)
        else {
            return false;
        };
        let fitted = Some(*images).filter(|images| *images > 0);
        let fitted = fitted.and_then(|images| config.fit_to(images, Chosen::default()));
        let Some(fitted) = fitted else { return false };
        let message = Message::fitted_to_small_data(config, &fitted, *images);
        ctx.show_notice(Severity::Info, message);
        let id = JobId(ctx.next_id());
        self.start_run(ctx, RunView::new(id, fitted), None);
        true
    }

    /// Submits a run, from the checkpoint in the folder `from` if there is one.
    pub fn start_run(&mut self, ctx: &mut Ctx, run: RunView, from: Option<PathBuf>) {
        let (id, config) = (run.id, run.config.clone());
        self.run = Some(run);
        self.next_run_shown = false;
        ctx.go_to(Screen::Train);
        ctx.request(Request::RunBegins);
        ctx.submit_as(id, Job::Train { config, from });
    }

    fn set_stopping(&mut self) {
        if let Some(run) = self.active_mut() {
            run.phase = Phase::Stopping;
        }
    }

    pub fn active_mut(&mut self) -> Option<&mut RunView> {
        self.run.as_mut().filter(|run| run.is_active())
    }

    pub fn active(&self) -> Option<&RunView> {
        self.run.as_ref().filter(|run| run.is_active())
    }
}

impl Train {
    /// Adds a run with the current settings to the queue, while another is in progress.
    pub fn queue_run(&mut self, ctx: &Ctx, mine: &MyDigitsView) {
        if ctx.is_training() && self.validation_errors(ctx, mine).is_empty() {
            self.queue.extend(ctx.repetitions());
        }
    }

    /// Adds the runs that were to be trained after this one, except those that wait already or have
    /// finished since.
    pub(super) fn queue_repetitions_after(&mut self, config: &RunConfig, finished: &[RunEntry]) {
        let mut missing = missing_repetitions(config, finished);
        let queue = &self.queue;
        missing.retain(|run| queue.iter().all(|other| other.repetition != run.repetition));
        self.queue.splice(0..0, missing);
    }

    /// Starts the first run that waits, if none is in progress. What is shown stays: nobody asked
    /// for anything else.
    pub fn start_queued(&mut self, ctx: &mut Ctx) {
        if ctx.is_at_long_work() || self.queue.is_empty() {
            return;
        }
        let run = RunView::new(JobId(ctx.next_id()), self.queue.remove(0));
        let (screen, next_run_shown) = (ctx.screen, self.next_run_shown);
        self.start_run(ctx, run, None);
        ctx.go_to(screen);
        self.next_run_shown = next_run_shown;
    }
}
