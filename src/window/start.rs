//! Opens the window: its size, position and icon, and the services the app depends on.

use crate::settings::Settings;
use crate::system::{memory, process, threads};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eframe::egui::{Context, IconData, ViewportBuilder, pos2, vec2};
use eframe::glow::{self, HasContext as _};

use super::desktop::native::{SystemDesktop, SystemDialogs};
use super::frame::Inkling;
use super::{Action, App, AppDeps, OtherMachine};
use crate::device::look_for_cuda_in;
use crate::engine::{
    EngineHandle, EngineHost, delete_received_on, hardware_on, received_on, self_test_on,
};
use crate::hardware::{Meter, probe_in_subprocess};
use crate::protocol::Urgency;
use crate::self_test::check_in_subprocess;
use crate::sweep::EngineExecutor;
use crate::system::paths::Paths;
use crate::system::signals::{Signal, listen};
use crate::system::single_instance::LaterStarts;

/// The smallest window that everything fits into, in points.
const MIN_SIZE: [f32; 2] = [900.0, 600.0];
/// The window's initial size, in points.
const INITIAL_SIZE: [f32; 2] = [1280.0, 800.0];

/// How long the window may take to close after the system asked this process to end.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// How long progress may wait to be painted while nobody touches the window.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The same without a GPU: each frame takes the processor away from the training that it shows.
const PROGRESS_INTERVAL_IN_SOFTWARE: Duration = Duration::from_millis(330);
/// Parts of the names of renderers that paint on the CPU: Mesa's, Google's and Windows'.
const SOFTWARE_RENDERERS: [&str; 5] = [
    "llvmpipe",
    "softpipe",
    "SwiftShader",
    "GDI Generic",
    "Microsoft Basic Render",
];

const ICON: &[u8] = include_bytes!("../../assets/icon/window.png");

/// Opens the window with these files and returns when it is closed: the exit status, 0 unless a
/// signal closed it. Later starts of the program hand their files over through `later_starts`.
pub fn run(
    paths: Paths,
    later_starts: LaterStarts,
    files: Vec<PathBuf>,
) -> Result<u8, eframe::Error> {
    memory::set_up();
    let status = Arc::new(AtomicU8::new(0));
    let end = Arc::clone(&status);
    let (open, open_requests) = channel();
    #[cfg(target_os = "macos")]
    crate::window::desktop::opened_by_finder::send_to(open.clone());
    let (settings, set_aside) = Settings::load(&paths.settings);
    let options = eframe::NativeOptions {
        viewport: viewport(&settings),
        persist_window: false,
        centered: false,
        dithering: false,
        ..Default::default()
    };
    eframe::run_native(
        "Inkling",
        options,
        Box::new(move |cc| {
            let ctx = cc.egui_ctx.clone();
            let progress_interval = if cc.gl.as_deref().is_some_and(is_software) {
                PROGRESS_INTERVAL_IN_SOFTWARE
            } else {
                PROGRESS_INTERVAL
            };
            listen_to_signals(&end, &ctx);
            let waken = ctx.clone();
            later_starts.serve(move |files| {
                let taken = open.send(files).is_ok();
                waken.request_repaint();
                taken
            });
            let kept_in = paths.runs.clone();
            let meter = Mutex::new(Meter::with_drivers_in_subprocess(|| {
                process::this_program(&["hardware", "--watch", "--json"])
            }));
            let around = AppDeps {
                paths,
                probe: Arc::new(move |folder| {
                    let program = process::this_program(&["hardware", "--json"]);
                    probe_in_subprocess(look_for_cuda_in(folder, program), &kept_in)
                }),
                sample_load: Arc::new(move |watched| threads::lock(&meter).sample(watched)),
                host: EngineHost::from_env(),
                connect: Box::new(|host, settings, wake| {
                    EngineHandle::start(host, settings, move |urgency| wake(urgency))
                }),
                executor: Arc::new(|host, settings, parallel| {
                    Box::new(EngineExecutor::of_host(host, settings, parallel))
                }),
                self_test: Arc::new(check_in_subprocess),
                download: crate::download::usual_downloader(),
                has_network: Box::new(crate::download::has_network),
                reach_host: Arc::new(|host| {
                    OtherMachine::reach(host, |host| Ok(hardware_on(host)?), self_test_on)
                }),
                list_received: Arc::new(|host| Ok(received_on(host)?)),
                delete_received: Arc::new(|host, bundles| Ok(delete_received_on(host, bundles)?)),
                dialogs: Box::new(SystemDialogs),
                desktop: Arc::new(SystemDesktop),
                wake: Arc::new(move |urgency| match urgency {
                    Urgency::Now => ctx.request_repaint(),
                    Urgency::Soon => ctx.request_repaint_after(progress_interval),
                }),
            };
            let mut app = App::new(settings, set_aside, around);
            if !files.is_empty() {
                app.apply(Action::Open(files));
            }
            Ok(Box::new(
                Inkling::new(app, &cc.egui_ctx)
                    .with_open_requests(open_requests)
                    .with_end(end),
            ))
        }),
    )?;
    Ok(status.load(Ordering::Relaxed))
}

fn is_software(gl: &glow::Context) -> bool {
    // SAFETY: this thread's context is current while the window is created.
    let renderer = unsafe { gl.get_parameter_string(glow::RENDERER) };
    SOFTWARE_RENDERERS
        .iter()
        .any(|software| renderer.contains(software))
}

/// A signal has the window interrupt its run and close, and sets the exit status.
fn listen_to_signals(end: &Arc<AtomicU8>, ctx: &Context) {
    let (end, ctx) = (Arc::clone(end), ctx.clone());
    let listening = listen(move |signal| {
        let status = match signal {
            Signal::Interrupt => 130,
            Signal::Terminate { status } => status,
        };
        end.store(status, Ordering::Relaxed);
        ctx.request_repaint();
        // A window that is not drawn, or that hangs, cannot close.
        std::thread::sleep(END_TIMEOUT);
        std::process::exit(i32::from(status));
    });
    if let Err(error) = listening {
        tracing::warn!(%error, "signals cannot be handled");
    }
}

fn viewport(settings: &Settings) -> ViewportBuilder {
    let builder = ViewportBuilder::default()
        .with_title("Inkling")
        .with_app_id("inkling")
        .with_icon(icon())
        .with_min_inner_size(MIN_SIZE);
    let Some(place) = settings.window else {
        return builder.with_inner_size(INITIAL_SIZE);
    };
    let builder = builder
        .with_inner_size(vec2(place.size[0], place.size[1]))
        .with_maximized(place.maximized);
    match place.position {
        Some([x, y]) => builder.with_position(pos2(x, y)),
        None => builder,
    }
}

/// The window's icon; an empty one if it cannot be decoded.
fn icon() -> IconData {
    eframe::icon_data::from_png_bytes(ICON).unwrap_or_default()
}
