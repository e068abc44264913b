//! The accuracy that stands for a model wherever one is shown, named by the images it was measured
//! on.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::run_config::{DataSpec, EvaluationSplit};
use crate::text::format::{grouped, percent};

/// An accuracy, with the images it was measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Share of the images classified correctly, from 0 to 1.
    pub value: f64,
    /// Images classified, if their number is known.
    pub images: Option<u64>,
    /// The data set they belong to.
    pub data: DataSpec,
    /// Which of its images they are.
    pub split: EvaluationSplit,
}

impl Accuracy {
    /// Which accuracy it is: "Test accuracy".
    pub const fn name(&self) -> &'static str {
        match self.split {
            EvaluationSplit::Test => "Test accuracy",
            EvaluationSplit::Validation => "Validation accuracy",
            EvaluationSplit::Train => "Training accuracy",
            EvaluationSplit::All => "Accuracy",
        }
    }

    /// What it was measured on: "MNIST, 10,000 images".
    pub fn measured_on(&self) -> String {
        let data = self.data.label();
        self.images.map_or_else(
            || data.clone(),
            |images| format!("{data}, {} images", grouped(images)),
        )
    }

    /// Both: "Test accuracy on MNIST, 10,000 images".
    pub fn label(&self) -> String {
        format!("{} on {}", self.name(), self.measured_on())
    }

    /// Its value: "99.32 %".
    pub fn percent(&self) -> String {
        percent(self.value, 2)
    }
}

/// "Test accuracy on MNIST, 10,000 images: 99.32 %".
impl Display for Accuracy {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.label(), self.percent())
    }
}
