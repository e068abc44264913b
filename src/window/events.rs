//! What comes in by itself: events of the engine and results of background tasks. What belongs to
//! another run, drawing or job is dropped.

use std::time::{Duration, Instant};

use super::notice::{Notice, Severity};
use super::state::App;
use super::train::learning::HeldOutView;
use super::train::run::{LastCheckpoint, Phase};
use crate::problem::{Code, Message, Problem};
use crate::protocol::{Answer, Event};
use crate::records::{Intervention, JobId, ModelInfo, ModelRef};
use crate::window::Ctx;
use crate::window::train::Train;

impl App {
    /// Takes in everything that has come; returns when to look again even if nothing comes.
    pub fn poll(&mut self) -> Option<Duration> {
        self.poll_engine();
        self.settle();
        while let Some(then) = self.ctx.background.next() {
            then(self);
            self.settle();
        }
        self.update_inference_device();
        self.shell.update(&mut self.ctx, self.train.run.as_ref());
        self.train.update_samples(&self.ctx);
        self.draw.update_stages(&mut self.ctx);
        self.update_answers();
        self.update_timeline();
        let map = self.update_map();
        self.machine.sample_monitor(&mut self.ctx);
        self.settle();
        let expiry = self.ctx.expire_notices();
        [self.draw.autosave_settings(&mut self.ctx), expiry, map]
            .into_iter()
            .flatten()
            .min()
    }

    /// Takes in one event of the engine.
    pub fn on_event(&mut self, event: Event) {
        match event {
            Event::Job { id, event } => self.on_job_event(id, event),
            Event::DataImages { run, images } => {
                if let Some(run) = self.train.active_run(run) {
                    run.data_images.add(images);
                }
            }
            Event::Started {
                run,
                plan,
                before,
                curve,
                position,
                folder,
            } => {
                if let Some(run) = self.train.active_run(run) {
                    run.checkpoints = Some(folder);
                    run.history.rewind(before, curve, position.total_steps());
                    let changes = &run.history.rate_changes;
                    run.rate_factor = changes.last().map_or(1.0, |change| change.factor);
                    run.plan = Some(plan);
                    if matches!(run.phase, Phase::Preparing(_)) {
                        run.phase = Phase::Training;
                    }
                }
            }
            Event::Steps {
                run: id,
                steps,
                now,
            } => {
                if let Some(run) = self.train.active_run(id) {
                    run.history.steps.extend(steps);
                    run.history.telemetry.push(now);
                    run.now = now;
                    self.draw.reclassify(&mut self.ctx, id, now.elapsed_seconds);
                } else {
                    self.train.on_search_steps(id, &steps);
                }
            }
            Event::Epoch { run, record } => {
                if let Some(run) = self.train.active_run(run) {
                    run.history.epochs.push(record);
                }
            }
            Event::Intervened { run, intervention } => {
                // An f16 run skips steps now and then; once is news, the rest is in its figures.
                let skips = matches!(intervention, Intervention::SkippedStep { .. });
                let Some(run) = self.train.active_run(run) else {
                    return;
                };
                let news = !skips || run.now.skipped_steps == 0;
                if !skips {
                    run.interventions.push(intervention);
                }
                if news {
                    self.ctx
                        .show_notice(Severity::Info, Message::intervened(&intervention));
                }
            }
            Event::Checkpoint {
                run,
                folder,
                position,
                kept,
            } => self.train.on_checkpoint(
                &mut self.ctx,
                run,
                LastCheckpoint { folder, position },
                kept,
            ),
            Event::NotSaved {
                run,
                problem,
                checkpoint,
            } => self
                .train
                .run_not_saved(&mut self.ctx, run, &problem, checkpoint),
            Event::Rescued {
                run,
                problem,
                rescue,
            } => {
                if self.train.active_run(run).is_some() {
                    self.ctx
                        .show_notice(Severity::Error, Message::rescued(&problem, &rescue));
                }
            }
            Event::Initialized { run, report } => {
                if let Some(run) = self.train.active_run(run) {
                    run.initialization = Some(report);
                }
            }
            Event::HeldOut { run, images } => {
                if let Some(run_view) = self.train.active_run(run) {
                    let classes = run_view.plan.as_ref().map_or_else(
                        || run_view.config.data.classes(),
                        |plan| plan.classes.clone(),
                    );
                    self.train.learning = Some(HeldOutView::new(run, classes, images));
                }
            }
            Event::HeldOutSnapshot { run, snapshot } => {
                if let Some(learning) = self
                    .train
                    .learning
                    .as_mut()
                    .filter(|learning| learning.run == run)
                {
                    learning.take(snapshot);
                }
            }
            Event::Sending(upload) => self
                .ctx
                .show_notice(Severity::Info, Message::sending(&upload)),
            Event::RateChanged { run, change } => {
                if let Some(run) = self.train.active_run(run) {
                    run.history.change_rate(change);
                }
            }
            Event::StepTaken { run, step } => {
                if let Some(run) = self.train.active_run(run) {
                    run.single_step = Some(*step);
                    self.draw.recognize_again(&mut self.ctx);
                }
            }
            Event::Paused(run) => self.train.set_run_phase(run, |_| Phase::Paused),
            Event::Resumed(run) => self.train.set_run_phase(run, |run| {
                if run.plan.is_some() {
                    Phase::Training
                } else {
                    Phase::Preparing(0.0)
                }
            }),
            Event::BenchmarkRow { id, row } => self.ctx.on_benchmark_row(id, row),
            Event::TimedToAccuracy { id, row } => self.train.on_time_to_accuracy(id, row),
            // Whoever opens the weights of another program wants to use them.
            Event::Failed(Problem {
                code: Code::ForeignWeights { path },
                ..
            }) => self.ctx.import(path),
            Event::Failed(problem) => self.ctx.show_problem(&problem),
            Event::ModelInUse(model) => {
                let known = |present: &ModelInfo| {
                    (&present.reference, present.epochs) == (&model.reference, model.epochs)
                };
                let other = !self.ctx.model_in_use.as_ref().is_some_and(known);
                if let ModelRef::File(path) = &model.reference {
                    self.ctx.settings.last_model = Some(self.models.end_of_run(path));
                }
                if model.reference == ModelRef::Starter {
                    self.ctx.starter_model = Some(model.clone());
                }
                let before = self.ctx.model_in_use.replace(model);
                if other {
                    self.map_model_changed(before);
                    self.my_digits.forget_answers();
                    self.draw.recognize_again(&mut self.ctx);
                }
            }
            Event::InferenceDevice(report) => self.draw.on_inference_report(&mut self.ctx, report),
            Event::Read { request, answer } => match self.ctx.tell_failure(answer) {
                Some(Answer::Drawings(answers)) => self.my_digits.on_answers(request, answers),
                Some(Answer::Map(map)) => self.on_map(request, map),
                answer => {
                    if answer.is_none() {
                        self.map.request_failed(request);
                    }
                    self.draw.on_answer(&mut self.ctx, request, answer);
                }
            },
            // What files the engine has sent is taken in before.
            // The samples of data come with its notes.
            Event::DataNotes { .. } | Event::Pong | Event::Bundle { .. } | Event::File { .. } => {}
            Event::EngineExited(exit) => self.engine_exited(exit),
            Event::Restarted => self.engine_restarted(),
        }
    }
}

impl Train {
    fn on_checkpoint(
        &mut self,
        ctx: &mut Ctx,
        run: JobId,
        checkpoint: LastCheckpoint,
        kept: Result<(), Problem>,
    ) {
        let Some(run) = self.active_run(run) else {
            return;
        };
        match kept {
            Ok(()) => run.checkpoint = Some(checkpoint),
            // Once is enough: a full disk does not empty by itself.
            Err(problem) => {
                if !std::mem::replace(&mut run.complained, true) {
                    ctx.show_notice(Severity::Info, Message::checkpoint_not_kept(&problem));
                }
            }
        }
    }
}

impl Ctx {
    fn expire_notices(&mut self) -> Option<Duration> {
        let now = Instant::now();
        self.notices
            .retain(|notice| notice.expires().is_none_or(|end| end > now));
        self.notices
            .iter()
            .filter_map(Notice::expires)
            .map(|end| end - now)
            .min()
    }
}
