//! The engine through its line: what is asked, what comes back.

mod supervision;
mod work;
