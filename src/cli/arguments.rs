//! Owns arguments that several commands share, and how a name becomes a choice.
//! Must not know what the choices do.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::run_config::UnknownChoice;

/// Takes one of these names; the help lists them, and a near miss gets a suggestion.
pub fn choice<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = UnknownChoice> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}
