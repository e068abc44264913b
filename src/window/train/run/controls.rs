//! Starting, pausing, resuming and stopping a run, and the phases that follow from it.

use std::path::PathBuf;

use super::{LastCheckpoint, Phase, RunView};
use crate::problem::{Code, Message, Problem};
use crate::protocol::{Command, Job, JobResult};
use crate::records::{JobId, RunPosition, RunSummary};
use crate::run_config::{Chosen, RunConfig};
use crate::window::{App, Ctx, JobOutcome, RunningJob, Screen, Severity, Train, WithoutResult};

impl App {
    /// Starts a run with the current configuration.
    pub(in crate::window) fn start(&mut self) {
        if self.ctx.is_training() || self.ctx.is_sweeping() || !self.validation_errors().is_empty()
        {
            return;
        }
        let mut runs = self.ctx.repetitions();
        let first = runs.remove(0);
        self.train.queue.splice(0..0, runs);
        let id = JobId(self.ctx.next_id());
        self.start_run(RunView::new(id, first), None);
    }

    /// Starts a run again that was refused because its batches are larger than its data, with
    /// settings that fit, and says so; false if that is not the problem.
    fn fit_to_small_data(&mut self, job: &Job, problem: &Problem) -> bool {
        let Job::Train { config, from: None } = job else {
            return false;
        };
        let Code::BatchLargerThanSet { images } = &problem.code else {
            return false;
        };
        let Some(fitted) = Some(*images)
            .filter(|images| *images > 0)
            .and_then(|images| config.fit_to(images, Chosen::default()))
        else {
            return false;
        };
        self.ctx.show_notice(
            Severity::Info,
            Message::fitted_to_small_data(config, &fitted, *images),
        );
        let id = JobId(self.ctx.next_id());
        self.start_run(RunView::new(id, fitted), None);
        true
    }

    pub fn run_ended(&mut self, ended: &RunningJob, outcome: JobOutcome) -> Option<Problem> {
        let id = ended.id;
        match outcome {
            Ok(JobResult::Train(summary)) => self.run_finished(id, summary),
            Ok(_) => {}
            Err(WithoutResult::EngineGone) => {
                if let Some(run) = self.train.active_run(id) {
                    run.phase = Phase::Failed;
                }
            }
            Err(WithoutResult::Cancelled) => {
                self.train.end_run(&mut self.ctx, id, Phase::Discarded);
                self.ctx.list_interrupted();
                // Train says it above the curves, with a button to resume it.
                if self.ctx.screen != Screen::Train && self.train.interrupted_checkpoint().is_some()
                {
                    self.ctx
                        .show_notice(Severity::Info, Message::stopped_unfinished());
                }
            }
            Err(WithoutResult::Failed(problem)) => {
                if let Some(run) = self.train.active_run(id)
                    && problem.code == Code::Diverged
                {
                    // Resumed from where it diverged, it would diverge again.
                    run.checkpoint = None;
                }
                self.train.end_run(&mut self.ctx, id, Phase::Failed);
                self.ctx.list_interrupted();
                return (!self.fit_to_small_data(&ended.job, &problem)).then_some(problem);
            }
        }
        None
    }

    fn run_finished(&mut self, id: JobId, summary: RunSummary) {
        // Train shows it large, unless the next run begins there.
        if self.ctx.screen != Screen::Train || !self.train.queue.is_empty() {
            self.ctx
                .show_notice(Severity::Info, Message::run_finished(&summary));
        }
        if self
            .train
            .run
            .as_ref()
            .is_some_and(|run| run.id == id && run.has_folder)
        {
            self.ctx.show_notice(
                Severity::Info,
                Message::saved_in_its_folder(&summary.folder),
            );
        }
        let stopped = summary.stopped;
        self.sweeps.note_sweep_test(&mut self.ctx, id, &summary);
        self.models.check_reproduction(&mut self.ctx, id, &summary);
        self.train
            .end_run(&mut self.ctx, id, Phase::Finished(Box::new(summary)));
        self.ctx.list_runs();
        if !stopped {
            self.start_queued();
        }
    }

    /// Submits a run, from the checkpoint in the folder `from` if there is one.
    pub fn start_run(&mut self, run: RunView, from: Option<PathBuf>) {
        let (id, config) = (run.id, run.config.clone());
        self.train.run = Some(run);
        self.train.next_run_shown = false;
        self.ctx.go_to(Screen::Train);
        self.draw.classified_at = 0.0;
        self.ctx.submit_as(id, Job::Train { config, from });
    }

    /// Interrupts the run or the sweep, so that it can be resumed, and ends the engine: for the end
    /// of this process.
    pub fn interrupt(&mut self) {
        if let Some(run) = self.train.run.as_mut().filter(|run| run.is_active()) {
            run.phase = Phase::Stopping;
        }
        self.sweeps.interrupt_sweep(&self.ctx);
        self.ctx.engine.ending = true;
        self.ctx.engine.handle.send(Command::Interrupt);
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
    pub fn pause(&mut self, ctx: &mut Ctx) {
        self.send_to_run(ctx, Command::Pause, &[Phase::Training]);
    }

    pub fn resume(&mut self, ctx: &mut Ctx) {
        self.send_to_run(ctx, Command::Resume, &[Phase::Paused]);
    }

    pub fn stop(&mut self, ctx: &mut Ctx) {
        self.send_to_run(
            ctx,
            Command::Cancel,
            &[
                Phase::Preparing(0.0),
                Phase::Training,
                Phase::Paused,
                Phase::NotSaved,
            ],
        );
        if let Some(run) = self.run.as_mut().filter(|run| run.is_active()) {
            run.phase = Phase::Stopping;
        }
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
            run.checkpoint = run
                .checkpoints
                .clone()
                .zip(checkpoint)
                .map(|(folder, position)| LastCheckpoint { folder, position });
            self.withdraw_not_saved(ctx, id, Some(message.clone()));
            ctx.show_notice(Severity::Error, message);
        }
    }

    /// Sends the command for the run, if it is in one of these phases.
    fn send_to_run(
        &mut self,
        ctx: &mut Ctx,
        command: impl FnOnce(JobId) -> Command,
        phases: &[Phase],
    ) {
        let fits = |run: &&RunView| {
            phases
                .iter()
                .any(|phase| std::mem::discriminant(phase) == std::mem::discriminant(&run.phase))
        };
        if let Some(id) = self.run.as_ref().filter(fits).map(|run| run.id) {
            ctx.send(command(id));
        }
    }

    /// The run of this name, while it is in progress.
    pub fn active_run(&mut self, id: JobId) -> Option<&mut RunView> {
        self.run
            .as_mut()
            .filter(|run| run.id == id && run.is_active())
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
        let before = self
            .active_run(id)
            .and_then(|run| std::mem::replace(&mut run.not_saved, now));
        if let Some(message) = before {
            ctx.notices.retain(|notice| notice.message != message);
        }
    }
}
