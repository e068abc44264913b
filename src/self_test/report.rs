//! The report of a self-test, which precisions may be used according to it, and its table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run_config::{DeviceChoice, Precision};
use crate::text::format::{joined, percent};
use crate::text::table::{Line, Section};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Op(String),
    Training,
    Inference,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub subject: Subject,
    pub precision: Precision,
    /// For an op the largest error relative to the largest number, for the training the last loss
    /// as a fraction of the first, for the classification the largest difference of a probability.
    /// `None` if the check could not be completed.
    pub found: Option<f32>,
    /// The largest value of `found` that passes.
    pub tolerance: f32,
    /// Why the check could not be completed, or where the largest error is.
    pub detail: String,
}

impl Check {
    /// True if it was completed within its tolerance.
    pub fn passed(&self) -> bool {
        self.found.is_some_and(|found| found <= self.tolerance)
    }

    /// "Convolution in bf16: 3.0e-2, at most 2.0e-2 allowed (output)."
    fn in_words(&self) -> String {
        let (subject, precision) = (self.subject.label(), self.precision.name());
        match self.found {
            Some(found) => {
                format!(
                    "{subject} in {precision}: {found:.1e}, at most {:.1e} allowed ({}).",
                    self.tolerance, self.detail
                )
            }
            None => format!(
                "{subject} in {precision} failed: {}.",
                self.detail.trim_end_matches('.')
            ),
        }
    }
}

impl Subject {
    pub fn label(&self) -> &str {
        match self {
            Self::Op(name) => name,
            Self::Training => "Short training run",
            Self::Inference => "Recognition",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTestReport {
    pub device: DeviceChoice,
    pub checks: Vec<Check>,
    pub seconds: f32,
}

impl SelfTestReport {
    /// Whether training at this precision passed; otherwise why not, as a sentence.
    pub fn passed(&self, precision: Precision) -> Result<(), String> {
        self.first_failure(|check| {
            check.precision == precision || check.subject == Subject::Inference
        })
    }

    fn first_failure(&self, concerns: impl Fn(&Check) -> bool) -> Result<(), String> {
        self.checks
            .iter()
            .filter(|check| concerns(check) && !check.passed())
            .map(Check::in_words)
            .next()
            .map_or(Ok(()), Err)
    }

    /// Whether recognition passed; otherwise why not, as a sentence. If training is not offered,
    /// gradients do not matter.
    pub fn passed_inference(&self) -> Result<(), String> {
        match self.device {
            DeviceChoice::Metal => self.first_failure(|check| check.subject == Subject::Inference),
            _ => self.passed(Precision::F32),
        }
    }

    pub fn failed(&self) -> usize {
        self.checks.iter().filter(|check| !check.passed()).count()
    }

    /// "All 31 checks passed in 1.2 s.", or "1 of 31 checks failed, so only f32 and bf16 will be
    /// used on this device."
    pub fn verdict(&self) -> String {
        let usable: Vec<_> = Precision::on(self.device)
            .filter(|&precision| self.passed(precision).is_ok())
            .map(Precision::name)
            .collect();
        let count = self.checks.len();
        match (self.failed(), usable.as_slice()) {
            (0, _) => format!("All {count} checks passed in {:.1} s.", self.seconds),
            (failed, []) => {
                format!("{failed} of {count} checks failed, so this device will not be used.")
            }
            (failed, [one]) => format!(
                "{failed} of {count} checks failed, so only {one} will be used on this device."
            ),
            (failed, [others @ .., last]) => {
                format!(
                    "{failed} of {count} checks failed, so only {} and {last} will be used on this device.",
                    others.join(", ")
                )
            }
        }
    }
}

/// The report as a table: a line per subject, a column per precision.
pub fn sections(report: &SelfTestReport) -> Vec<Section> {
    let mut subjects: Vec<&Subject> = Vec::new();
    for check in &report.checks {
        if !subjects.contains(&&check.subject) {
            subjects.push(&check.subject);
        }
    }
    let of = |subject: &Subject, precision| {
        report
            .checks
            .iter()
            .find(|check| check.subject == *subject && check.precision == precision)
    };
    let cell = |check: Option<&Check>| {
        let Some(check) = check else {
            return String::new();
        };
        let Some(found) = check.found else {
            return "FAILED".to_owned();
        };
        let figure = match check.subject {
            Subject::Training => percent(f64::from(found), 0),
            _ if found == 0.0 => "exact".to_owned(),
            _ => format!("{found:.0e}"),
        };
        figure + if check.passed() { " ok" } else { " WRONG" }
    };
    let line = |subject: &Subject| {
        let checks = Precision::on(report.device).filter_map(|precision| of(subject, precision));
        let detail = joined(checks.map(Check::in_words), "\n");
        let cells = Precision::on(report.device).map(|precision| cell(of(subject, precision)));
        Line {
            detail,
            ..Line::of(std::iter::once(subject.label().to_owned()).chain(cells))
        }
    };
    vec![Section::plain(
        "Checks",
        "ops: largest relative error of output and gradients against a reference implementation; training: final loss as a fraction of the initial loss; recognition: largest difference of a probability from the CPU's",
        std::iter::once(report.device.label())
            .chain(Precision::on(report.device).map(Precision::name)),
        subjects.into_iter().map(line).collect(),
    )]
}
