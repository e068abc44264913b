//! The configuration of the next run: its fields as they are typed, and what this machine recommends.

mod form;
mod recommendation;

pub use form::{Field, Form, ValidationError};
