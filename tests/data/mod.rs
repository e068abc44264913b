//! The data room.

mod builtin;
mod files;
