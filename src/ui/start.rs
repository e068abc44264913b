//! Owns opening the window: its size, place, icon and what the app stands on.
//! Must not know what is in it.

use std::sync::{Arc, Mutex, PoisonError};

use eframe::egui::{ViewportBuilder, pos2, vec2};

use super::dialogs::SystemDialogs;
use super::icon::icon;
use super::window::Inkling;
use crate::app::{App, Settings, Surroundings};
use crate::device::look_for_cuda_in;
use crate::engine::{EngineHandle, Host};
use crate::hardware::{Meter, probe_apart};
use crate::paths::Paths;
use crate::program;
use crate::self_test::check_apart;

/// The smallest window everything fits in, in points.
const MIN_SIZE: [f32; 2] = [900.0, 600.0];
/// The window at first.
const USUAL_SIZE: [f32; 2] = [1280.0, 800.0];

/// Opens the window and returns when it is closed.
pub fn run() -> Result<(), eframe::Error> {
    let paths = Paths::find();
    let (settings, set_aside) = Settings::load(&paths.settings);
    let options = eframe::NativeOptions { viewport: viewport(&settings), persist_window: false, centered: false, ..Default::default() };
    eframe::run_native(
        "Inkling",
        options,
        Box::new(move |cc| {
            let ctx = cc.egui_ctx.clone();
            let kept_in = paths.runs.clone();
            let meter = Mutex::new(Meter::with_drivers_apart(|| program::this(&["hardware", "--watch", "--json"])));
            let around = Surroundings {
                paths,
                probe: Arc::new(move |folder| {
                    let program = program::this(&["hardware", "--json"]);
                    probe_apart(look_for_cuda_in(folder, program), &kept_in)
                }),
                read_live: Arc::new(move |watched| meter.lock().unwrap_or_else(PoisonError::into_inner).read(watched)),
                host: Host::usual(),
                connect: Box::new(|host, settings, wake| EngineHandle::start(host, settings, move || wake())),
                self_test: Arc::new(check_apart),
                dialogs: Box::new(SystemDialogs),
                wake: Arc::new(move || ctx.request_repaint()),
            };
            let app = App::new(settings, set_aside, around);
            Ok(Box::new(Inkling::new(app, &cc.egui_ctx)))
        }),
    )
}

fn viewport(settings: &Settings) -> ViewportBuilder {
    let builder = ViewportBuilder::default().with_title("Inkling").with_app_id("inkling").with_icon(icon()).with_min_inner_size(MIN_SIZE);
    let Some(place) = settings.window else { return builder.with_inner_size(USUAL_SIZE) };
    let builder = builder.with_inner_size(vec2(place.size[0], place.size[1])).with_maximized(place.maximized);
    match place.position {
        Some([x, y]) => builder.with_position(pos2(x, y)),
        None => builder,
    }
}
