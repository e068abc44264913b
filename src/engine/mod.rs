//! Owns the engine: the one thread that holds every tensor, takes commands and gives events.
//! Must not know egui, screens or sentences.

mod events;
mod handle;

pub use events::EventSink;
pub use handle::{EngineHandle, EngineSettings, EngineSide, RunsTarget};
