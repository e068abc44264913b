//! Owns how figures become text: numbers with their units, tables, and the licences of what is built in.

pub mod format;
pub mod licences;
pub mod table;
