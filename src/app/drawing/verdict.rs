//! Owns the words for what a model made of a drawing.
//! Must not know how they are shown.

use crate::app::run::RunView;
use crate::records::{ModelInfo, ModelRef, Prediction};
use crate::run_config::DeviceChoice;
use crate::text::format::milliseconds;

/// From this probability on the answer is given as it is.
const SURE: f32 = 0.9;
/// Below [`SURE`], a second digit with at least this probability is named too.
const RIVAL: f32 = 0.2;

/// What a drawing was read as, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The digits in question, likeliest first: one when the model is sure, two when it hesitates, none when it is no digit.
    pub digits: Vec<u8>,
    /// The whole verdict: "7 — 98 % sure", "could be 4 or 9", "does not look like a digit".
    pub sentence: String,
    /// What stands beside the digit in large type: "98 % sure".
    pub confidence: String,
    /// More, in small type; may be empty.
    pub detail: String,
}

impl Verdict {
    /// The verdict of a prediction.
    pub fn of(prediction: &Prediction) -> Self {
        let [first, second] = two_likeliest(&prediction.probabilities);
        let sure = sureness(first.1);
        if !prediction.is_digit {
            return Self {
                digits: Vec::new(),
                sentence: "does not look like a digit".to_owned(),
                confidence: "does not look like a digit".to_owned(),
                detail: format!("If it is one, {} is the best guess.", first.0),
            };
        }
        if first.1 >= SURE {
            return Self { digits: vec![first.0], sentence: format!("{} — {sure}", first.0), confidence: sure, detail: String::new() };
        }
        if second.1 >= RIVAL {
            return Self {
                digits: vec![first.0, second.0],
                sentence: format!("could be {} or {}", first.0, second.0),
                confidence: "could be either".to_owned(),
                detail: format!("{}: {}, {}: {}", first.0, whole_percent(first.1), second.0, whole_percent(second.1)),
            };
        }
        Self {
            digits: vec![first.0],
            sentence: format!("probably {} — {sure}", first.0),
            confidence: format!("probably; {sure}"),
            detail: format!("{} is the next guess ({}).", second.0, whole_percent(second.1)),
        }
    }
}

/// Who reads, in a sentence: "Starter model, trained on Built-in digits"; for a run that is under way "the run under way, epoch 2".
pub fn model_sentence(reader: &ModelInfo, run: Option<&RunView>) -> String {
    match (&reader.reference, run) {
        (ModelRef::Training(id), Some(run)) if run.id == *id && run.is_active() => {
            format!("reads with the run under way, epoch {}", run.now.epoch.max(1))
        }
        (ModelRef::Training(_), _) => format!("reads with the last run: {}, {}", reader.kind.label(), reader.data.label()),
        (ModelRef::Starter, _) => "reads with the starter model".to_owned(),
        (ModelRef::File(_), _) => format!("reads with {}, trained on {}", reader.kind.label(), reader.data.label()),
    }
}

/// How long a prediction took and where: "0.8 ms on CPU".
pub fn latency(prediction: &Prediction) -> String {
    let device = match prediction.device {
        DeviceChoice::Auto | DeviceChoice::Cpu => "the CPU",
        DeviceChoice::Cuda => "the NVIDIA GPU",
        DeviceChoice::Metal => "the Apple GPU",
    };
    format!("{} on {device}", milliseconds(prediction.micros as f32))
}

/// A probability in whole percent, never rounded to certainty: 0.9997 is "over 99 %", 0.002 is "under 1 %".
pub fn whole_percent(probability: f32) -> String {
    match (probability * 100.0).round() {
        rounded if rounded >= 100.0 => "over 99 %".to_owned(),
        rounded if rounded < 1.0 => "under 1 %".to_owned(),
        rounded => format!("{rounded:.0} %"),
    }
}

fn sureness(probability: f32) -> String {
    format!("{} sure", whole_percent(probability))
}

/// The two likeliest digits with their probabilities.
fn two_likeliest(probabilities: &[f32]) -> [(u8, f32); 2] {
    let mut best = [(0, f32::NEG_INFINITY); 2];
    for (digit, &probability) in probabilities.iter().enumerate() {
        let here = (digit as u8, probability);
        if probability > best[0].1 {
            best = [here, best[0]];
        } else if probability > best[1].1 {
            best[1] = here;
        }
    }
    best
}
