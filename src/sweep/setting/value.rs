//! Values of settings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value of a setting: a number, or a name such as `gentle`; `off` for one that is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number, whole or not.
    Number(f64),
    Name(String),
}

/// The name of an optional setting's value when it is left out.
pub const OFF: &str = "off";
/// The name of the widths that a model has of itself.
pub const DEFAULT: &str = "default";
/// The value of a switch that is on.
pub const ON: &str = "on";

impl Value {
    /// The number in this text, or the name that it is.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        text.parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .map_or_else(|| Self::Name(text.to_ascii_lowercase()), Self::Number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// The value of an optional setting that is left out.
pub fn off() -> Value {
    Value::Name(OFF.to_owned())
}
