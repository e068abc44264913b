//! Text that several rooms share: numbers with their units, tables, and the licences of everything that is built in.

pub mod format;
pub mod licences;
pub mod table;
