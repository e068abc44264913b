use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::run_config::UnknownChoice;

/// Parses one of `names`; the help lists them, and clap suggests the closest for a misspelt one.
pub fn choice<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownChoice> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}
