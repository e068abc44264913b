//! The engine through its line: what is asked, what comes back.

mod child;
mod reading_on;
mod supervision;
mod wire;
mod work;
