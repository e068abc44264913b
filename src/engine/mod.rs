//! The engine: one thread that owns every tensor, takes commands and sends events. It lives in this
//! process, in a child or on another machine; whoever holds its handle does not see which. Does not
//! depend on egui, screens or messages.

mod autotuning;
mod child;
mod command_queue;
mod dataset_cache;
mod digit_map;
mod handle;
mod host;
mod inference_device;
mod jobs;
mod places;
mod recognizer;
mod remote;
mod server;
mod supervisor;
mod wire;

pub use handle::{
    EngineGone, EngineHandle, EngineSettings, EngineSide, EventSink, RunsTarget, this_machine,
};
pub use host::{Devices, EngineHost, ThisMachine};
pub use remote::{
    ReceivedFolder, RemoteHost, SLURM, SlurmTask, SshHost, delete_received_on, hardware_on,
    received_on, self_test_on,
};
pub use server::{CallerLocation, Interrupter, ServeError, serve};
pub use supervisor::{Activity, WorkerContext, supervise};
pub use wire::{Handshake, read, recv_handshake, send_handshake, write};
