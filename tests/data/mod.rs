//! The data room.

mod builtin;
mod files;
mod folders;
