//! Models: their list, and what is done with them.

mod compare;
mod import_export;
mod list;
mod names;
mod repeats;
