use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::run_config::{Preset, UnknownChoice};

/// Parses one of `names`; the help lists them, and clap suggests the closest for a misspelt one.
pub fn choice<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownChoice> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}

/// Accepts the names of the presets, and those that scripts for earlier versions use.
pub fn preset() -> impl TypedValueParser<Value = Preset> {
    let names = Preset::ALL.iter().map(|preset| PossibleValue::new(preset.name()).aliases(preset.former_name()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Preset>())
}
