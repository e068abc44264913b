//! Follows one run: turns its events into progress, lines and JSON.

use super::report;
use crate::app::messages::Message;
use crate::cli::engine::Engine;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::problem::Problem;
use crate::protocol::{Command, Event, Task};
use crate::records::{RunId, RunPlan, RunSummary, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::text::format::grouped;

/// Follows the run to its end; `None` if nothing was saved.
pub fn until_over(engine: &Engine, config: &RunConfig, output: &mut Output) -> Result<Option<RunSummary>, Failure> {
    let mut progress = Progress::new();
    let mut plan = None;
    let mut stopping = false;
    let mut complained = false;
    progress.note(&format!("Preparing {}.", config.data.label()));
    loop {
        if interrupt::requested() && !stopping {
            stopping = true;
            progress.note(
                "Stopping. Press Ctrl-C again to quit immediately; `inkling train --resume` then resumes from the last completed epoch.",
            );
            engine.send(Command::Stop(RunId(1)))?;
        }
        match engine.next()? {
            Some(Event::Preparing { fraction, .. }) => progress.show(fraction, "Preparing data"),
            Some(Event::Started { plan: started, before, .. }) => {
                output.json(&report::Started::new(config, &started))?;
                progress = Progress::new();
                progress.note(&report::plan(config, &started));
                if let Some(last) = before.last() {
                    progress.note(&format!("Resuming after epoch {} of {}.", last.epoch, config.epochs));
                }
                plan = Some(started);
            }
            Some(Event::Progress { steps, now, .. }) => {
                if let Some(plan) = &plan {
                    step(&progress, config, plan, &steps, now);
                }
            }
            Some(Event::Epoch { record, .. }) => {
                output.json(&report::Epoch::new(&record))?;
                progress.note(&report::epoch(config, &record));
            }
            Some(Event::Intervened { intervention, .. }) => {
                output.json(&report::Intervened::new(&intervention))?;
                progress.note(&Message::intervened(&intervention).to_string());
            }
            Some(Event::Finished { summary, .. }) => return Ok(Some(*summary)),
            Some(Event::Discarded(_)) => return Ok(None),
            Some(Event::Failed { what: Task::Run(_), problem }) => return Err(problem.into()),
            // A restarted engine has lost the run.
            Some(Event::EngineExited(loss)) => return Err(loss.into()),
            Some(Event::Checkpoint { kept: Err(problem), .. }) if !complained => {
                complained = true;
                progress.note(&Message::checkpoint_not_kept(&problem).to_string());
            }
            Some(Event::Restarted) => return Err(Problem::EngineGone.into()),
            // Other events are irrelevant here.
            Some(_) | None => {}
        }
    }
}

fn step(progress: &Progress, config: &RunConfig, plan: &RunPlan, steps: &[StepPoint], now: Telemetry) {
    let loss = steps.last().map_or_else(String::new, |step| format!(" · loss {:.4}", step.loss));
    let rate = grouped(f64::from(now.images_per_second).round() as u64);
    let text = format!("epoch {} of {}{loss} · {rate} images/s", now.epoch, config.epochs);
    let fraction = now.step as f32 / plan.total_steps.max(1) as f32;
    progress.show_remaining(fraction, &text, Some(f64::from(now.remaining_seconds)));
}
