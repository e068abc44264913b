//! Values of the settings that a sweep varies.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::DefinitionError;
use crate::run_config::{RunConfig, Setting};

/// A value of a setting: a number, or a name such as `gentle`; `off` for one that is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number, whole or not.
    Number(f64),
    Name(String),
}

impl Value {
    /// The number in this text, or the name that it is.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        text.parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .map_or_else(|| Self::Name(text.to_ascii_lowercase()), Self::Number)
    }

    /// The value that a configuration has.
    pub fn of(setting: Setting, config: &RunConfig) -> Self {
        Self::parse(&setting.text(config))
    }

    /// Puts it into a configuration. Whether the number is in the setting's range is for
    /// [`RunConfig::problems`] to say.
    pub fn apply(&self, setting: Setting, config: &mut RunConfig) -> Result<(), DefinitionError> {
        let text = self.to_string();
        setting
            .set(config, &text)
            .map_err(|wanted| DefinitionError::Value {
                setting,
                given: text,
                wanted,
            })
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
