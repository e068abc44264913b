//! The jobs that the engine does for the window: submitting and cancelling them, their progress,
//! and what is done with their results.

use std::collections::BTreeMap;

use super::action::Screen;
use super::notice::Severity;
use super::state::App;
use super::train::run::Phase;
use super::train::setup::{SearchResult, SearchState};
use crate::problem::{Code, Message};
use crate::protocol::{Job, JobEvent, JobProgress, JobResult};
use crate::records::benchmark::Measurement;
use crate::records::{BatchSizeSpec, EvaluationReport, JobId};
use crate::run_config::DeviceChoice;
use crate::text::format::{percent, remaining};
use crate::window::Ctx;

/// A job that was submitted and has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningJob {
    pub id: JobId,
    pub job: Job,
    pub progress: JobProgress,
    /// The figures that a benchmark or comparison has measured so far.
    pub rows: Vec<Measurement>,
    /// True once it was asked to end.
    pub cancelling: bool,
}

impl RunningJob {
    /// What it is called, and the screen that shows it; `None` for what is shown as a run, and for
    /// what is over within a moment.
    fn name_and_screen(&self) -> Option<(&'static str, Screen)> {
        Some(match &self.job {
            Job::Train { .. } | Job::Trial(_) | Job::Export { to: None, .. } => return None,
            Job::Evaluate(_) => ("Evaluation", Screen::Results),
            Job::FineTune(_) => ("Fine-tuning", Screen::MyDigits),
            Job::Benchmark(_) => ("Benchmark", Screen::Hardware),
            Job::Compare { .. } => ("Comparison of settings", Screen::Train),
            Job::CompareModels(_) => ("Comparison of models", Screen::Models),
            Job::TimeSteps(_) => ("Timing the presets", Screen::Train),
            Job::Profile(_) => ("Profile", Screen::Train),
            Job::FindLearningRate(_) => ("Search for a learning rate", Screen::Train),
            Job::FindBatchSize(_) => ("Search for a batch size", Screen::Train),
            Job::Export { .. } => ("Export", Screen::Models),
            Job::Import(_) => ("Import", Screen::Models),
        })
    }
}

/// A job in progress, for any screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownJob<'a> {
    pub running: &'a RunningJob,
    /// What it is called: "Benchmark".
    pub name: &'static str,
    pub screen: Screen,
}

impl ShownJob<'_> {
    /// Whether a person can cancel it: not what Inkling began by itself, and would begin again.
    pub const fn can_cancel(&self) -> bool {
        !matches!(self.running.job, Job::TimeSteps(_))
    }

    /// Its name and how far it is: "Benchmark, 43 %, 12 s left".
    pub fn state(&self) -> String {
        let RunningJob {
            progress,
            cancelling,
            ..
        } = self.running;
        if *cancelling {
            return format!("{}, cancelling…", self.name);
        }
        let left = progress
            .remaining_seconds
            .map_or_else(String::new, |seconds| {
                format!(", {} left", remaining(seconds))
            });
        format!(
            "{}, {}{left}",
            self.name,
            percent(progress.fraction.into(), 0)
        )
    }
}

/// The jobs that have not ended, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Jobs(BTreeMap<JobId, RunningJob>);

impl Jobs {
    pub(super) fn has(&self, id: JobId) -> bool {
        self.0.contains_key(&id)
    }

    /// How far this job is, while it is in progress.
    pub fn progress_of(&self, id: JobId) -> Option<JobProgress> {
        self.0.get(&id).map(|running| running.progress)
    }

    pub fn evaluation(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::Evaluate(_)))
    }

    pub fn benchmark(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::Benchmark(_) | Job::Compare { .. }))
    }

    pub fn comparison(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::CompareModels(_)))
    }

    /// The search for a learning rate or a batch size, or the profile, in progress.
    pub fn search(&self) -> Option<&RunningJob> {
        let is_meant = |job: &Job| {
            matches!(
                job,
                Job::FindLearningRate(_) | Job::FindBatchSize(_) | Job::Profile(_)
            )
        };
        self.newest(is_meant)
    }

    /// True while the presets are timed.
    pub fn is_timing_presets(&self) -> bool {
        self.newest(|job| matches!(job, Job::TimeSteps(_)))
            .is_some()
    }

    /// The export that is being written; previews do not count.
    pub fn export(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::Export { to: Some(_), .. }))
    }

    pub fn fine_tuning(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::FineTune(_)))
    }

    pub fn import(&self) -> Option<&RunningJob> {
        self.newest(|job| matches!(job, Job::Import(_)))
    }

    /// The newest job in progress, unless it is a training run.
    pub fn shown(&self) -> Option<ShownJob<'_>> {
        self.0.values().rev().find_map(|running| {
            running.name_and_screen().map(|(name, screen)| ShownJob {
                running,
                name,
                screen,
            })
        })
    }

    /// True while no job runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True while a run is in progress.
    pub fn is_training(&self) -> bool {
        self.newest(|job| matches!(job, Job::Train { .. }))
            .is_some()
    }

    pub(super) fn add(&mut self, id: JobId, job: Job) {
        self.0.insert(
            id,
            RunningJob {
                id,
                job,
                progress: JobProgress::default(),
                rows: Vec::new(),
                cancelling: false,
            },
        );
    }

    /// Notes that this job is to end; false if it has ended.
    pub(super) fn cancel(&mut self, id: JobId) -> bool {
        let running = self.0.get_mut(&id);
        running.map(|running| running.cancelling = true).is_some()
    }

    /// Drops jobs whose results nobody waits for any more.
    pub(super) fn forget(&mut self, is_meant: impl Fn(&Job) -> bool) {
        self.0.retain(|_, running| !is_meant(&running.job));
    }

    fn newest(&self, is_meant: impl Fn(&Job) -> bool) -> Option<&RunningJob> {
        self.0.values().rev().find(|running| is_meant(&running.job))
    }
}

impl App {
    /// The engine that did them is gone.
    pub(super) fn abandon_jobs(&mut self) {
        if let Some(run) = self.train.run.as_mut().filter(|run| run.is_active()) {
            run.phase = Phase::Failed;
        }
        self.ctx.jobs.0.clear();
        self.machine.benchmark.comparing = None;
        self.train.search = None;
        self.models.export = None;
        self.forget_requests();
    }

    /// Takes in what a job reports; what is not known here any more is dropped.
    pub(super) fn on_job_event(&mut self, id: JobId, event: JobEvent) {
        if let JobEvent::Progress(progress) = event {
            if let Some(running) = self.ctx.jobs.0.get_mut(&id) {
                running.progress = progress;
                self.train.run_is_preparing(id, progress.fraction);
            }
            return;
        }
        let Some(ended) = self.ctx.jobs.0.remove(&id) else {
            return;
        };
        match event {
            JobEvent::Progress(_) => {}
            JobEvent::Done(result) => self.on_job_done(ended, *result),
            JobEvent::Cancelled => self.on_job_without_result(&ended, Phase::Discarded),
            JobEvent::Failed(problem) => {
                if let Some(run) = self.train.active_run(id)
                    && problem.code == Code::Diverged
                {
                    // Resumed from where it diverged, it would diverge again.
                    run.checkpoint = None;
                }
                self.on_job_without_result(&ended, Phase::Failed);
                // Nobody asked for the estimates.
                let shown = self.models.export_failed(&ended.job, &problem)
                    || self.fit_to_small_data(&ended.job, &problem)
                    || self.train.search_failed(id, &problem);
                if !matches!(ended.job, Job::TimeSteps(_)) && !shown {
                    self.ctx.show_problem(&problem);
                }
            }
        }
        self.machine.time_presets(&mut self.ctx);
    }

    fn on_job_done(&mut self, RunningJob { id, job, rows, .. }: RunningJob, result: JobResult) {
        match result {
            JobResult::Train(summary) => {
                self.results.show_test(&summary);
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
            // A sweep's, which has engines of its own.
            JobResult::Trial => {}
            JobResult::Evaluate(EvaluationReport {
                model, measured, ..
            }) => self.evaluated(model, measured),
            JobResult::Benchmark { report, saved } => {
                let problem = saved.as_ref().err().cloned();
                self.machine.benchmark.last = Some((report, saved.ok()));
                if let Some(problem) = problem {
                    self.ctx.show_problem(&problem);
                }
            }
            JobResult::Compare {
                failed,
                background_load,
            } => self
                .machine
                .benchmark
                .set_compared(rows, failed, background_load),
            JobResult::CompareModels(found) => self.models.models_compared(found),
            JobResult::TimeSteps {
                images_per_second,
                background_load,
            } => {
                if let Job::TimeSteps(configs) = &job {
                    self.machine.presets_timed(
                        &mut self.ctx,
                        configs,
                        images_per_second,
                        background_load,
                    );
                }
            }
            JobResult::Profile {
                profile,
                background_load,
            } => {
                let profile = Box::new(profile);
                let found = SearchResult::Profile {
                    profile,
                    background_load,
                };
                self.train.search_ended(id, SearchState::Done(found));
            }
            JobResult::FindLearningRate(finding) => {
                let found = SearchResult::LearningRate(finding);
                self.train.search_ended(id, SearchState::Done(found));
            }
            JobResult::FindBatchSize(finding) => self
                .train
                .search_ended(id, SearchState::Done(SearchResult::BatchSize(finding))),
            JobResult::FineTune(tuned) => {
                if let Job::FineTune(before) = job {
                    self.fine_tuned(before, tuned);
                }
            }
            JobResult::Export(report) => self.models.exported(&mut self.ctx, &job, report),
            JobResult::ImportUndecided { trials, message } => {
                self.models.ask_how_meant(job, trials, message.what);
            }
            JobResult::Import { summary, finding } => {
                self.results.show_test(&summary);
                self.ctx.list_runs();
                self.models.close_comparison(&mut self.ctx);
                self.models.run_to_select = Some(summary.folder.clone());
                self.ctx
                    .show_notice(Severity::Info, Message::imported(&summary, &finding));
            }
        }
    }

    fn on_job_without_result(&mut self, ended: &RunningJob, phase: Phase) {
        match ended.job {
            Job::Train { .. } => {
                let stopped = phase == Phase::Discarded;
                self.train.end_run(&mut self.ctx, ended.id, phase);
                self.ctx.list_interrupted();
                // Train says it above the curves, with a button to resume it.
                if stopped
                    && self.ctx.screen != Screen::Train
                    && self.train.interrupted_checkpoint().is_some()
                {
                    self.ctx
                        .show_notice(Severity::Info, Message::stopped_unfinished());
                }
            }
            Job::Compare { .. } => self.machine.benchmark.comparing = None,
            Job::FindLearningRate(_) | Job::Profile(_) | Job::FindBatchSize(_)
                if phase == Phase::Discarded =>
            {
                self.train.search_ended(ended.id, SearchState::Cancelled);
            }
            // Later: something else was asked for.
            Job::TimeSteps(_) => self.machine.benchmark.presets_wanted = phase == Phase::Discarded,
            _ => {}
        }
    }
}

impl Ctx {
    pub(super) fn on_benchmark_row(&mut self, id: JobId, row: Measurement) {
        if let Some(running) = self.jobs.0.get_mut(&id) {
            running.rows.push(row);
        }
    }
}

/// The device a job needs the engine to reach, if it depends on one.
pub(super) fn device_of(job: &Job) -> Option<DeviceChoice> {
    match job {
        Job::Train { config, .. }
        | Job::Profile(config)
        | Job::FindLearningRate(config)
        | Job::FindBatchSize(BatchSizeSpec { config, .. }) => Some(config.device),
        Job::Compare { step_configs, .. } => step_configs
            .iter()
            .map(|step_config| step_config.device)
            .find(|device| *device == DeviceChoice::Cuda),
        Job::TimeSteps(configs) => configs
            .iter()
            .map(|config| config.device)
            .find(|device| *device == DeviceChoice::Cuda),
        _ => None,
    }
}
