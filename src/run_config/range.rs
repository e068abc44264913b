use std::fmt;

/// The numbers that a setting can be.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// What the setting is called in a sentence.
    pub name: &'static str,
    pub(super) low: Bound,
    pub(super) high: Bound,
    pub(super) whole: bool,
    /// What is counted; may be empty.
    pub unit: &'static str,
    /// A usual value; may be empty.
    pub(super) example: &'static str,
    /// What becomes of a setting that is left empty; `None` where it must not be.
    pub if_empty: Option<&'static str>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// This number and what lies inside of it.
    At(f64),
    /// What lies inside of this number, but not the number.
    Beyond(f64),
    None,
}
use Bound::{At, Beyond};

impl Range {
    /// 1 and more, for a setting that is called this in a sentence.
    pub(super) const fn whole(name: &'static str) -> Self {
        Self {
            name,
            low: At(1.0),
            high: Bound::None,
            whole: true,
            unit: "",
            example: "",
            if_empty: None,
        }
    }

    /// 0 and more, whole or not.
    pub(super) const fn real(name: &'static str) -> Self {
        Self {
            low: At(0.0),
            whole: false,
            ..Self::whole(name)
        }
    }

    /// True for numbers the setting can be; false for NaN and infinities.
    pub fn contains(&self, value: f64) -> bool {
        let above = match self.low {
            At(low) => value >= low,
            Beyond(low) => value > low,
            Bound::None => true,
        };
        let below = match self.high {
            At(high) => value <= high,
            Beyond(high) => value < high,
            Bound::None => true,
        };
        value.is_finite() && above && below
    }

    /// What to type: "a whole number from 1 to 1000, or leave it out to …".
    pub fn hint(&self) -> String {
        let if_empty = self
            .if_empty
            .map(|what| format!(", or leave it out {what}"));
        format!("{}{}", self.numbers(), if_empty.unwrap_or_default())
    }

    /// Which numbers: "a whole number from 1 to 1000".
    pub(super) fn numbers(&self) -> String {
        let kind = if self.whole { "whole number" } else { "number" };
        let of = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" of {}", self.unit)
        };
        let span = match (self.low, self.high) {
            (At(low), At(high)) => format!(" from {low} to {high}"),
            (At(low), Beyond(high)) => format!(" from {low} to below {high}"),
            (At(low), Bound::None) => format!(", {low} or greater"),
            _ => format!(" {self}"),
        };
        let example = if self.example.is_empty() {
            String::new()
        } else {
            format!(", such as {}", self.example)
        };
        format!("a {kind}{of}{span}{example}")
    }
}

/// The range alone: "between 1 and 1000", "above 0 and at most 10".
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (At(low), At(high)) => write!(f, "between {low} and {high}"),
            (At(low), Beyond(high)) => write!(f, "at least {low} and below {high}"),
            (At(low), Bound::None) => write!(f, "at least {low}"),
            (Beyond(low), At(high)) => write!(f, "above {low} and at most {high}"),
            (Beyond(low), Beyond(high)) => write!(f, "above {low} and below {high}"),
            (Beyond(low), Bound::None) => write!(f, "above {low}"),
            (Bound::None, _) => f.write_str("any number"),
        }
    }
}
