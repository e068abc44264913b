//! The engine through its line: what is asked, what comes back.

mod child;
mod supervision;
mod wire;
mod work;
