//! Owns the frame loop: polls the app, draws its state and hands it what the person did.
//! Must not decide anything: the app does.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use eframe::egui::{self, Context, ThemePreference, Ui, UserAttentionType, ViewportCommand};

use super::about::About;
use super::draw::DrawView;
use super::models::ModelsView;
use super::plots::PlotsView;
use super::results::ResultsScreen;
use super::{about, drop_zone, shell, shortcuts, style, wizard};
use crate::app::{Action, App, Theme, WindowGeometry, WindowRequest, ZOOM};

/// What the window is called when nothing is under way.
const TITLE: &str = "Inkling";

/// The window.
#[derive(Debug)]
pub struct Inkling {
    app: App,
    pub(super) views: Views,
    actions: Vec<Action>,
    frames: u64,
    /// What later starts of the program bring; `None` where nobody is listened to.
    brought: Option<Receiver<Vec<PathBuf>>>,
    /// What stands in the window's title.
    title: String,
}

/// What is seen and not part of the application's state, a part per panel.
#[derive(Debug, Default)]
pub(super) struct Views {
    pub plots: PlotsView,
    pub draw: DrawView,
    pub models: ModelsView,
    pub results: ResultsScreen,
    /// The overview of shortcuts is open.
    pub shortcuts: bool,
    /// Versions, machine, licences.
    pub about: About,
    /// The window was asked to close while a run is under way.
    pub closing: Closing,
}

/// Whether the window may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Closing {
    /// It stays.
    #[default]
    No,
    /// The person is being asked.
    Asking,
    /// The person said yes.
    Yes,
}

impl Inkling {
    /// The window on this state.
    pub fn new(app: App, ctx: &Context) -> Self {
        style::apply(ctx);
        ctx.set_zoom_factor(app.settings.zoom);
        Self { app, views: Views::default(), actions: Vec::new(), frames: 0, brought: None, title: TITLE.to_owned() }
    }

    /// The same, which takes what later starts of the program bring.
    #[must_use]
    pub fn with_open_requests(self, brought: Receiver<Vec<PathBuf>>) -> Self {
        Self { brought: Some(brought), ..self }
    }

    /// The state, for tests and for whoever embeds the window.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Does what the person would have done by other means.
    pub fn apply(&mut self, action: Action) {
        self.app.apply(action);
    }

    /// Draws one frame and carries out what was done in it.
    pub fn frame(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        self.app.focused = ctx.input(|input| input.viewport().focused.unwrap_or(true));
        while let Some(files) = self.brought.as_ref().and_then(|brought| brought.try_recv().ok()) {
            self.app.apply(Action::Open(files));
        }
        if let Some(wait) = self.app.poll() {
            ctx.request_repaint_after(wait);
        }
        self.frames += 1;
        if self.frames == 2 {
            // The first frame is on the screen: now there is time to look at the machine.
            self.app.start_discovery();
        } else if self.frames == 1 {
            ctx.request_repaint();
        }
        ctx.set_theme(match self.app.settings.theme {
            Theme::System => ThemePreference::System,
            Theme::Light => ThemePreference::Light,
            Theme::Dark => ThemePreference::Dark,
        });
        if let Some(step) = self.app.wizard {
            wizard::show(ui, &self.app, step, &mut self.actions);
        } else {
            shortcuts::listen(ui, &self.app, &mut self.views.shortcuts, &mut self.actions);
            shell::show(ui, &self.app, &mut self.views, &mut self.actions);
            shortcuts::overview(ui, &mut self.views.shortcuts);
            about::show(ui, &self.app, &mut self.views.about);
        }
        drop_zone::show(ui, &self.app, &mut self.actions);
        self.ask_before_closing(ui);
        style::ring_around_focus(&ctx);
        if !self.actions.is_empty() {
            for action in std::mem::take(&mut self.actions) {
                self.app.apply(action);
            }
            // What was done shows in this frame: it is laid out once more before it is painted.
            if ctx.current_pass_index() == 0 {
                ctx.request_discard("something was done");
            } else {
                ctx.request_repaint();
            }
        }
        self.remember_window(&ctx);
        self.show_outside(&ctx);
    }

    /// What is seen of the window without looking into it: its title, whether it calls, whether it is in front.
    fn show_outside(&mut self, ctx: &Context) {
        let run = self.app.run.as_ref().filter(|run| run.is_active());
        let title = run.map_or_else(|| TITLE.to_owned(), |run| format!("{:.0} %, {TITLE}", (run.fraction() * 100.0).floor()));
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
        match self.app.take_window_request() {
            Some(WindowRequest::Attention) => {
                ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational))
            }
            Some(WindowRequest::Front) => {
                ctx.send_viewport_cmd(ViewportCommand::Minimized(false));
                ctx.send_viewport_cmd(ViewportCommand::Focus);
                // Where a program may not put itself in front (Wayland), it can still call.
                if !self.app.focused {
                    ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
                }
            }
            None => {}
        }
    }

    fn ask_before_closing(&mut self, ui: &Ui) {
        let ctx = ui.ctx();
        let asked = ctx.input(|input| input.viewport().close_requested());
        if asked && self.app.is_training() && self.views.closing != Closing::Yes {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.views.closing = Closing::Asking;
        }
        if self.views.closing != Closing::Asking {
            return;
        }
        if !self.app.is_training() {
            self.views.closing = Closing::No;
            return;
        }
        match shell::confirm_close(ui) {
            Some(true) => {
                self.views.closing = Closing::Yes;
                self.app.apply(Action::Stop);
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
            Some(false) => self.views.closing = Closing::No,
            None => {}
        }
    }

    /// Keeps size, place and zoom as they are now.
    fn remember_window(&mut self, ctx: &Context) {
        let zoom = ctx.zoom_factor().clamp(*ZOOM.start(), *ZOOM.end());
        if zoom != ctx.zoom_factor() {
            ctx.set_zoom_factor(zoom);
        }
        self.app.settings.zoom = zoom;
        let (inner, outer, maximized, minimized) = ctx.input(|input| {
            let window = input.viewport();
            (window.inner_rect, window.outer_rect, window.maximized.unwrap_or(false), window.minimized.unwrap_or(false))
        });
        let Some(inner) = inner.filter(|_| !minimized) else { return };
        // Rectangles are in points as zoomed; the window is made before there is a zoom.
        let before = self.app.settings.window;
        self.app.settings.window = Some(WindowGeometry {
            // While maximised, the size to go back to is the one before.
            size: before.filter(|_| maximized).map_or([inner.width() * zoom, inner.height() * zoom], |place| place.size),
            position: if maximized {
                before.and_then(|place| place.position)
            } else {
                outer.map(|rect| [rect.left() * zoom, rect.top() * zoom])
            },
            maximized,
        });
    }
}

impl eframe::App for Inkling {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.frame(ui);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        // From now on, another start opens a window of its own.
        self.brought = None;
        self.app.close();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
