//! The engine through its line: what is asked, what comes back.

mod child;
mod inference_device;
mod interruption;
mod supervision;
mod wire;
mod work;
