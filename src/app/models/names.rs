//! What models are called wherever one is named.

use std::path::Path;

use crate::app::App;
use crate::records::ModelRef;
use crate::runs::{CURRENT_RUN, LAST_RUN, RunEntry, STARTER_MODEL};
use crate::text::visible;

impl App {
    /// A model's name, which no other has: "Starter model", "Current run", "LeNet-5 on MNIST 2".
    pub fn model_name(&self, reference: &ModelRef) -> String {
        match reference {
            ModelRef::Starter => STARTER_MODEL.to_owned(),
            ModelRef::Training(id) => match &self.run {
                Some(run) if run.id == *id && run.is_active() => CURRENT_RUN.to_owned(),
                _ => LAST_RUN.to_owned(),
            },
            ModelRef::File(file) => self
                .saved_model_name(file)
                .map_or_else(|| visible::label(&file.file_name().unwrap_or(file.as_os_str()).to_string_lossy()), str::to_owned),
        }
    }

    /// True if this model recognises the drawings at present.
    pub fn is_in_use(&self, reference: &ModelRef) -> bool {
        self.model_in_use.as_ref().is_some_and(|model| model.reference == *reference)
    }

    /// The name of the model in this file, if it belongs to a saved run.
    pub fn saved_model_name(&self, file: &Path) -> Option<&str> {
        let folder = file.parent()?;
        self.runs.iter().flatten().find(|run| run.folder == folder && run.summary.is_ok()).map(|run| run.title.as_str())
    }

    /// The available models: that of the current run, the starter model, the starred ones, and of the others the newest, `saved` of both at
    /// most.
    pub fn models(&self, saved: usize) -> Vec<ModelRef> {
        let run = self.run.as_ref().filter(|run| run.is_active() && run.plan.is_some()).map(|run| ModelRef::Training(run.id));
        let (starred, others): (Vec<&RunEntry>, Vec<&RunEntry>) = self.runs.iter().flatten().partition(|entry| entry.annotation.starred);
        let files = starred.into_iter().chain(others).filter_map(|entry| entry.summary.as_ref().ok());
        run.into_iter()
            .chain([ModelRef::Starter])
            .chain(files.take(saved).map(|summary| ModelRef::File(summary.model_path.clone())))
            .collect()
    }
}
