//! The model in use as text.

use crate::records::{Ensemble, ModelInfo, ModelRef, snapshot_step};
use crate::text::format::{capitalized, count, grouped};
use crate::window::train::run::RunView;

/// The model in use: "using the starter model", "using the run in progress, step 120".
pub fn model_sentence(reader: &ModelInfo, run: Option<&RunView>) -> String {
    match (&reader.reference, run) {
        (ModelRef::Training(id), Some(run)) if run.id == *id && run.is_active() => {
            format!("using the run in progress, step {}", grouped(run.now.step))
        }
        (ModelRef::Training(_), _) => format!(
            "using the last run: {} on {}",
            reader.network.label(),
            reader.data.label()
        ),
        (ModelRef::Starter, _) => "using the starter model".to_owned(),
        (ModelRef::Ensemble(ensemble), _) => format!("using {}", ensemble_words(ensemble)),
        (ModelRef::File(file), _) if snapshot_step(file).is_some() => format!(
            "using {} as it was at step {}",
            reader.network.label(),
            grouped(snapshot_step(file).unwrap_or_default())
        ),
        (ModelRef::File(_), _) => format!(
            "using {}, trained on {}",
            reader.network.label(),
            reader.data.label()
        ),
    }
}

/// What the model's name does not say: "Test accuracy on MNIST, 10,000 images: 99.32%; MLP,
/// trained on Built-in digits"; may be empty.
pub fn model_facts(reader: &ModelInfo, name: &str, run: Option<&RunView>) -> String {
    if let (ModelRef::Training(id), Some(run)) = (&reader.reference, run)
        && run.id == *id
        && run.is_active()
    {
        return format!("Weights of step {}", grouped(run.now.step));
    }
    let (network, data) = (reader.network.label(), reader.data.label());
    if let ModelRef::Ensemble(ensemble) = &reader.reference {
        return capitalized(&ensemble_words(ensemble));
    }
    let network = (!name.contains(&network) || !name.contains(&data))
        .then(|| format!("{network}, trained on {data}"));
    reader
        .accuracy
        .as_ref()
        .map(ToString::to_string)
        .into_iter()
        .chain(network)
        .collect::<Vec<_>>()
        .join("; ")
}

/// "the mean of 5 models", "the mean of 50 passes with dropout".
fn ensemble_words(ensemble: &Ensemble) -> String {
    let models = ensemble.models.len() as u64;
    match ensemble.dropout_passes {
        None => format!(
            "the mean of {}",
            count(
                models,
                if ensemble.is_posterior() {
                    "posterior sample"
                } else {
                    "model"
                }
            )
        ),
        Some(passes) if models == 1 => format!("the mean of {passes} passes with dropout"),
        Some(passes) => format!(
            "the mean of {}, {passes} passes with dropout each",
            count(models, "model")
        ),
    }
}
