//! The data room.

mod augment;
mod builtin;
mod files;
mod fingerprint;
mod folders;
mod hostile;
mod memory;
mod my_digits;
mod validation;
