//! The frame loop: polls the app, whether or not the window is seen, draws its state and applies
//! the actions of the frame. Decisions are made in the app.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use eframe::egui::{
    self, ColorImage, Context, ThemePreference, Ui, UserAttentionType, Vec2, ViewportCommand, vec2,
};

use super::draw::view::DrawView;
use super::hardware::view::other_machine;
use super::inside::view::InsideView;
use super::models::view::{ModelsView, editor};
use super::my_digits::view::MyDigitsScreen;
use super::plots::PlotsView;
use super::results::view::ResultsScreen;
use super::shell::dialogs::{self, About, CloseAnswer};
use super::shell::{self, drop_zone, shortcuts};
use super::sweeps::view::SweepScreen;
use super::train::view::learning::HeldOutPanel;
use super::train::view::search;
use super::{Action, App, Phase, RunView, SweepView, WindowRequest, style, wizard};
use crate::ink::SIDE;
use crate::settings::{Theme, WindowGeometry, ZOOM};
use crate::system::memory;
use crate::text::format::percent;
use crate::window::TrainAction;

/// The window's title while no run is active.
const TITLE: &str = "Inkling";

/// The least space that a window's frame and the system's bars take of the screen, in points.
const AROUND_WINDOW: Vec2 = vec2(16.0, 64.0);

/// From this width on, in points, text of the usual size is too small for a screen's distance.
const LARGE_SCREEN: f32 = 3200.0;
const ZOOM_ON_LARGE_SCREEN: f32 = 1.5;

/// How long a frame of a moving pen may wait for the engine, so that the verdict is painted
/// together with the stroke and not a frame later.
const VERDICT_WAIT: Duration = Duration::from_millis(8);

/// The window's state: the app, and what only the view knows.
#[derive(Debug)]
pub struct Inkling {
    app: App,
    pub(super) views: Views,
    actions: Vec<Action>,
    frames: u64,
    /// True once the window's size was compared with its screen's.
    fitted: bool,
    rest: Rest,
    /// True while nothing moves by itself, by the system's setting.
    still: bool,
    /// Files handed over by later starts of the program; `None` while no requests are accepted.
    open_requests: Option<Receiver<Vec<PathBuf>>>,
    title: String,
    /// The exit status once the system asked this process to end; 0 before.
    end: Arc<AtomicU8>,
}

/// View state of each panel: what is shown but is not part of the app's state.
#[derive(Debug, Default)]
pub(super) struct Views {
    pub plots: PlotsView,
    pub draw: DrawView,
    pub inside: InsideView,
    pub learning: HeldOutPanel,
    pub models: ModelsView,
    pub results: ResultsScreen,
    pub my_digits: MyDigitsScreen,
    pub sweep: SweepScreen,
    /// Whether the canvas and the validation images are shown in the place of the plots, if
    /// there is no room for both.
    pub panel_over_plots: bool,
    /// Whether the overview of shortcuts is open.
    pub shortcuts: bool,
    pub about: About,
    /// Whether the window may close while a run is active.
    pub closing: Closing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Closing {
    /// Nobody has asked to close it.
    #[default]
    No,
    Asking,
    Yes,
}

impl Inkling {
    pub fn new(app: App, ctx: &Context) -> Self {
        style::apply(ctx);
        ctx.set_zoom_factor(app.ctx.settings.zoom);
        Self {
            app,
            views: Views::default(),
            actions: Vec::new(),
            frames: 0,
            fitted: false,
            rest: Rest::default(),
            still: false,
            open_requests: None,
            title: TITLE.to_owned(),
            end: Arc::default(),
        }
    }

    /// Also opens the files that arrive here, sent by later starts of the program.
    #[must_use]
    pub fn with_open_requests(self, open_requests: Receiver<Vec<PathBuf>>) -> Self {
        Self {
            open_requests: Some(open_requests),
            ..self
        }
    }

    /// Also interrupts its run and closes once this is an exit status.
    #[must_use]
    pub fn with_end(self, end: Arc<AtomicU8>) -> Self {
        Self { end, ..self }
    }

    /// The app, for tests.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Applies an action, as if the person had triggered it.
    pub fn apply(&mut self, action: impl Into<Action>) {
        self.app.apply(action);
    }

    /// What goes on whether or not the window is seen: takes in what the engine and other threads
    /// report, requests to open files or to close, and asks the system for what the app wants. Runs
    /// before each frame, and without one if the window is minimized or covered.
    pub fn update(&mut self, ctx: &Context) {
        #[cfg(debug_assertions)]
        style::reload(ctx);
        let focused = ctx.input(|input| input.viewport().focused.unwrap_or(true));
        let was_focused = std::mem::replace(&mut self.app.ctx.focused, focused);
        if focused && !was_focused {
            self.app.ctx.ask_about_motion();
        }
        while let Some(files) = self
            .open_requests
            .as_ref()
            .and_then(|requests| requests.try_recv().ok())
        {
            self.app.apply(Action::Open(files));
        }
        self.poll(ctx);
        self.ask_before_closing(ctx);
        self.show_outside(ctx);
        if self.rest.begins(Instant::now()) {
            memory::return_freed();
        } else {
            ctx.request_repaint_after(Rest::AFTER);
        }
    }

    fn poll(&mut self, ctx: &Context) {
        if let Some(wait) = self.app.poll() {
            ctx.request_repaint_after(wait);
        }
    }

    /// Draws one frame and applies its actions.
    pub fn frame(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        // First of all, so that the engine recognizes the drawing while the frame is laid out.
        self.views
            .draw
            .follow_pointer(&ctx, &self.app, &mut self.actions);
        let drawn = !self.actions.is_empty();
        if drawn {
            self.actions
                .drain(..)
                .for_each(|action| self.app.apply(action));
            self.poll(&ctx);
        }
        self.fit_to_screen(&ctx);
        self.frames += 1;
        if self.frames == 2 {
            // The first frame is on the screen: hardware detection must not delay it.
            self.app.start_discovery();
        } else if self.frames == 1 {
            ctx.request_repaint();
        }
        ctx.set_theme(match self.app.ctx.settings.theme {
            Theme::System => ThemePreference::System,
            Theme::Light => ThemePreference::Light,
            Theme::Dark => ThemePreference::Dark,
        });
        if self.still != self.app.ctx.motion_is_reduced {
            self.still = self.app.ctx.motion_is_reduced;
            style::allow_motion(&ctx, !self.still);
        }
        if let Some(step) = self.app.ctx.wizard {
            wizard::show(ui, &self.app, step, &mut self.views.draw, &mut self.actions);
        } else {
            shortcuts::listen(ui, &self.app, &mut self.views.shortcuts, &mut self.actions);
            shell::show(ui, &self.app, &mut self.views, &mut self.actions);
            shortcuts::overview(ui, &mut self.views.shortcuts);
            dialogs::about_dialog(ui, &self.app, &mut self.views.about);
            search::show(ui, &self.app, &mut self.actions);
            other_machine::show(ui, &self.app, &mut self.actions);
        }
        other_machine::sending_question(ui, &self.app, &mut self.actions);
        dialogs::path_question(ui, &self.app, &mut self.actions);
        editor::import_question(ui, &self.app, &mut self.actions);
        drop_zone(ui, &self.app, &mut self.actions);
        self.confirm_close(ui);
        style::ring_around_focus(&ctx);
        if !self.actions.is_empty() {
            for action in std::mem::take(&mut self.actions) {
                self.app.apply(action);
            }
            // The frame is laid out again with the new state before it is painted.
            if ctx.current_pass_index() == 0 {
                ctx.request_discard("actions were applied");
            } else {
                ctx.request_repaint();
            }
        }
        self.remember_window(&ctx);
        if drawn
            && ctx.current_pass_index() == 0
            && self.app.draw.is_behind(&self.app.ctx)
            && self.app.wait_for_verdict(VERDICT_WAIT)
        {
            ctx.request_discard("the drawing has been recognized meanwhile");
        }
    }

    /// Maximizes a window that is too large for its screen, which is only known once there is a
    /// window: buttons would be below the edge. On the first start on a large screen whose system
    /// does not scale, everything is enlarged.
    fn fit_to_screen(&mut self, ctx: &Context) {
        let Some(screen) = ctx
            .input(|input| input.viewport().monitor_size)
            .filter(|_| !self.fitted)
        else {
            return;
        };
        self.fitted = true;
        let is_first_start = self.app.ctx.settings.window.is_none();
        if is_first_start && ctx.zoom_factor() == 1.0 && screen.x >= LARGE_SCREEN {
            ctx.set_zoom_factor(ZOOM_ON_LARGE_SCREEN);
            // The zoom is in use from the next frame on.
            let size = ctx.content_rect().size() * ZOOM_ON_LARGE_SCREEN;
            ctx.send_viewport_cmd(ViewportCommand::InnerSize(size));
            return;
        }
        if (ctx.content_rect().size() + AROUND_WINDOW).max(screen) != screen {
            ctx.send_viewport_cmd(ViewportCommand::Maximized(true));
        }
    }

    /// The title, the clipboard, requests for attention, and bringing the window to the front.
    fn show_outside(&mut self, ctx: &Context) {
        let run = self.app.train.run.as_ref().filter(|run| run.is_active());
        let sweep = self
            .app
            .sweeps
            .shown
            .as_ref()
            .filter(|sweep| sweep.is_active());
        let fraction = run
            .map(RunView::fraction)
            .or_else(|| sweep.map(SweepView::fraction));
        let title = match fraction {
            // Training begins at 0% again.
            Some(_) if run.is_some_and(|run| matches!(run.phase, Phase::Preparing(_))) => {
                format!("Preparing – {TITLE}")
            }
            Some(fraction) => format!("{} – {TITLE}", percent(fraction.into(), 0)),
            None => TITLE.to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
        match self.app.shell.take_window_request() {
            Some(WindowRequest::Attention) => {
                ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(
                    UserAttentionType::Informational,
                ));
            }
            Some(WindowRequest::Front) => {
                bring_to_front(ctx);
                // Wayland does not let a program raise its own window; a request for attention
                // still works.
                if !self.app.ctx.focused {
                    ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(
                        UserAttentionType::Informational,
                    ));
                }
            }
            Some(WindowRequest::Copy(text)) => ctx.copy_text(text),
            Some(WindowRequest::CopyImage(image)) => {
                ctx.copy_image(ColorImage::from_gray([SIDE; 2], image.pixels()));
            }
            None => {}
        }
    }

    /// Closes on a signal. If a person closes it, and training is in progress, a
    /// confirmation comes first, in front of other windows.
    fn ask_before_closing(&mut self, ctx: &Context) {
        if self.end.load(Ordering::Relaxed) != 0 && self.views.closing != Closing::Yes {
            self.views.closing = Closing::Yes;
            self.app.interrupt();
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        let (asked, shown) = ctx.input(|input| {
            (
                input.viewport().close_requested(),
                input.viewport().visible().unwrap_or(true),
            )
        });
        if asked && self.app.ctx.is_at_long_work() && self.views.closing != Closing::Yes {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.views.closing = Closing::Asking;
            if !shown {
                bring_to_front(ctx);
            }
        }
    }

    fn confirm_close(&mut self, ui: &Ui) {
        let ctx = ui.ctx();
        if self.views.closing != Closing::Asking {
            return;
        }
        if !self.app.ctx.is_at_long_work() {
            self.views.closing = Closing::No;
            return;
        }
        match dialogs::confirm_close(ui, &self.app) {
            Some(CloseAnswer::StayOpen) => self.views.closing = Closing::No,
            Some(CloseAnswer::SaveFirst) => {
                self.views.closing = Closing::No;
                self.app.apply(Action::Train(TrainAction::Stop));
            }
            Some(answer) => {
                self.views.closing = Closing::Yes;
                if answer == CloseAnswer::ResumeLater {
                    self.app.interrupt();
                } else {
                    self.app.apply(Action::Train(TrainAction::Stop));
                }
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            None => {}
        }
    }

    /// Stores the window's size, position and zoom in the settings.
    fn remember_window(&mut self, ctx: &Context) {
        let zoom = ctx.zoom_factor().clamp(*ZOOM.start(), *ZOOM.end());
        if zoom != ctx.zoom_factor() {
            ctx.set_zoom_factor(zoom);
        }
        self.app.ctx.settings.zoom = zoom;
        let (inner, outer, maximized, minimized) = ctx.input(|input| {
            let window = input.viewport();
            (
                window.inner_rect,
                window.outer_rect,
                window.maximized.unwrap_or(false),
                window.minimized.unwrap_or(false),
            )
        });
        let Some(inner) = inner.filter(|_| !minimized) else {
            return;
        };
        // The rectangles are in zoomed points, but the window is created before the zoom is
        // applied.
        let before = self.app.ctx.settings.window;
        self.app.ctx.settings.window = Some(WindowGeometry {
            // A maximized window keeps the size to restore.
            size: before
                .filter(|_| maximized)
                .map_or([inner.width() * zoom, inner.height() * zoom], |place| {
                    place.size
                }),
            position: if maximized {
                before.and_then(|place| place.position)
            } else {
                outer.map(|rect| [rect.left() * zoom, rect.top() * zoom])
            },
            maximized,
        });
    }
}

fn bring_to_front(ctx: &Context) {
    ctx.send_viewport_cmd(ViewportCommand::Minimized(false));
    ctx.send_viewport_cmd(ViewportCommand::Focus);
}

impl eframe::App for Inkling {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.update(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        ui.ctx()
            .accesskit_node_builder(egui::accesskit_root_id(), |root| root.set_label("Inkling"));
        self.frame(ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        // From now on, another start of the program opens its own window.
        self.open_requests = None;
        self.app.close();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

#[derive(Debug, Default)]
pub struct Rest {
    last: Option<Instant>,
    rests: bool,
}

impl Rest {
    /// Nothing has happened for as long.
    pub const AFTER: Duration = Duration::from_secs(4);

    /// Something happens now, or it is time to see whether nothing did; true if the rest begins.
    pub fn begins(&mut self, now: Instant) -> bool {
        let before = self.last.replace(now);
        // The system may wake the window a little early.
        let nothing_happened = before.is_some_and(|before| now - before >= Self::AFTER * 9 / 10);
        self.rests = nothing_happened && !self.rests;
        self.rests
    }
}
