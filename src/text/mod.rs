//! Text that several modules share: numbers with their units, tables, the licenses of everything
//! that is built in, and text from outside made safe to show.

pub mod format;
pub mod licenses;
pub mod table;
pub mod visible;
