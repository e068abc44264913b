//! The data room.

mod augment;
mod builtin;
mod files;
mod folders;
mod validation;
