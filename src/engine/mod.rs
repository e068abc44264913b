//! Owns the engine: the one thread that holds every tensor, takes commands and gives events.
//! Must not know egui, screens or sentences.

mod bench_job;
mod desk;
mod events;
mod handle;
mod measure_job;
mod run_job;
mod shelf;
mod supervisor;
mod worker;

pub use events::EventSink;
pub use handle::{EngineGone, EngineHandle, EngineSettings, EngineSide, RunsTarget};
pub use supervisor::supervise;
