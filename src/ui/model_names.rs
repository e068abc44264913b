//! The names of models where one is chosen from a list.

use crate::app::App;
use crate::records::ModelRef;
use crate::text::format::local_time;
use crate::text::visible;

/// The available models: that of the current run, the starter model, and the `runs` newest finished ones.
pub fn models(app: &App, runs: usize) -> Vec<ModelRef> {
    let run = app.run.as_ref().filter(|run| run.is_active() && run.plan.is_some()).map(|run| ModelRef::Training(run.id));
    let files = app.runs.iter().flatten().filter_map(|entry| entry.summary.as_ref().ok());
    run.into_iter().chain([ModelRef::Starter]).chain(files.take(runs).map(|summary| ModelRef::File(summary.model_path.clone()))).collect()
}

/// A model's name: "Starter model", "Current run", "LeNet-5 on MNIST, 21 Nov 2026, 14:03".
pub fn model(app: &App, reference: &ModelRef) -> String {
    match reference {
        ModelRef::Starter => "Starter model".to_owned(),
        ModelRef::Training(id) => match &app.run {
            Some(run) if run.id == *id && run.is_active() => "Current run".to_owned(),
            _ => "Last run".to_owned(),
        },
        ModelRef::File(path) => {
            let mut runs = app.runs.iter().flatten().filter_map(|entry| entry.summary.as_ref().ok());
            match runs.find(|summary| summary.model_path == *path) {
                Some(summary) => {
                    let config = &summary.config;
                    format!("{} on {}, {}", config.model.label(), config.data.label(), local_time(&summary.finished_at))
                }
                None => visible::label(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()),
            }
        }
    }
}
