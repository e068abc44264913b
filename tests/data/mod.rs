//! The data room.

mod builtin;
