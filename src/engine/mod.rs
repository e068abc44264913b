//! Owns the engine: the one thread that holds every tensor, takes commands and gives events. It lives in this process or in a child;
//! whoever holds its handle does not see which. Must not know egui, screens or sentences.

mod bench_job;
mod child;
mod desk;
mod devices;
mod events;
mod export_job;
mod handle;
mod host;
mod import_job;
mod measure_job;
mod reading_place;
mod run_job;
mod server;
mod shelf;
mod supervisor;
mod wire;
mod worker;

pub use devices::{Devices, ThisMachine};
pub use events::EventSink;
pub use handle::{EngineGone, EngineHandle, EngineSettings, EngineSide, RunsTarget, this_machine};
pub use host::Host;
pub use server::{Unserved, serve};
pub use supervisor::supervise;
pub use wire::{Greeting, be_greeted, greet, read, write};
