//! The dialog that shows where the time of a training step goes: the step as a flame graph, and
//! tables of its passes and layers.

use eframe::egui::{
    Align2, Color32, CornerRadius, Id, Label, Modal, Rect, RichText, Role, ScrollArea, Sense,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use crate::bench::{busy, chrome_trace, profile_sections};
use crate::records::benchmark::BUSY;
use crate::records::{Profile, Span, SpanKind};
use crate::text::format::{milliseconds, remaining};
use crate::window::style::{Palette, table};
use crate::window::{Action, App, ProfileState, ProfileView, style};

/// The dialog's width, and what stands around its tables, in points.
const WIDTH: f32 = 860.0;
const AROUND: f32 = 190.0;
const HEIGHT: f32 = 560.0;
/// The height of a row of the flame graph, and of a worker thread's below it, in points.
const ROW: f32 = 22.0;
const WORKER_ROW: f32 = 10.0;
/// A name is written into a bar that is at least so much wider than it, in points.
const PADDING: f32 = 8.0;

/// Shows the dialog while it is open. Escape closes it; a click beside it does not.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(view) = &app.train.profile else {
        return;
    };
    let room = ui.ctx().content_rect().size();
    let modal = Modal::new(Id::unique("profile"))
        .frame(style::dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(room.x - 80.0));
            ui.label(RichText::new("Where the time goes").heading());
            let about = format!(
                "{}: some training steps on the built-in digits, layer by layer. Nothing is saved.",
                view.title
            );
            ui.add(Label::new(RichText::new(about).weak()).wrap());
            ui.add_space(style::GAP / 2.0);
            let height = (room.y - AROUND).min(HEIGHT);
            ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
                ui.set_min_height(height);
                ScrollArea::vertical()
                    .auto_shrink(false)
                    .max_height(height)
                    .show(ui, |ui| content(ui, app, view));
            });
            ui.add_space(style::GAP / 2.0);
            buttons(ui, view, actions);
        });
    if style::escaped(&modal) {
        actions.push(Action::CloseProfile);
    }
}

fn content(ui: &mut Ui, app: &App, view: &ProfileView) {
    match &view.state {
        ProfileState::Running => {
            let progress = app
                .ctx
                .jobs
                .profile()
                .map(|running| running.progress)
                .unwrap_or_default();
            let left = progress
                .remaining_seconds
                .map_or_else(String::new, |seconds| {
                    format!(", {} left", remaining(seconds))
                });
            ui.label(format!("Recording{left}"));
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(10.0))
                .accessible_name("Recording progress");
        }
        ProfileState::Done {
            profile,
            background_load,
        } => {
            ui.add(Label::new(RichText::new(profile.summary()).strong()).wrap());
            if *background_load > BUSY {
                style::caution(ui, &busy(*background_load));
            }
            ui.add_space(style::GAP / 2.0);
            flame_graph(ui, profile);
            table::show(ui, &profile_sections(profile));
        }
        ProfileState::Cancelled => drop(ui.label("The recording was cancelled.")),
        ProfileState::Failed(message) => drop(style::invalid(ui, &message.to_string())),
    }
}

struct Bar {
    name: String,
    /// Its top and its height within the graph, in points.
    top: f32,
    height: f32,
    kind: Option<SpanKind>,
    from: f64,
    to: f64,
}

/// The step of median length: as a whole, its passes, its layers, the batches that are prepared
/// meanwhile, and the CPU's threads.
fn flame_graph(ui: &mut Ui, profile: &Profile) {
    let Some((step, bars)) = bars(profile) else {
        return;
    };
    let height = bars
        .iter()
        .map(|bar| bar.top + bar.height)
        .fold(0.0, f32::max);
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(profile.summary()),
        ..WidgetInfo::labeled(Role::Figure, true, "Flame graph of a step")
    });
    let palette = style::palette(ui);
    let at = |time: f64| {
        area.left()
            + (((time - step[0]) / (step[1] - step[0])).clamp(0.0, 1.0) as f32) * area.width()
    };
    let font = TextStyle::Small.resolve(ui.style());
    let mut hovered = None;
    for bar in &bars {
        let top = area.top() + bar.top;
        let rect = Rect::from_min_max(
            pos2(at(bar.from), top),
            pos2(at(bar.to), top + bar.height - 2.0),
        );
        let fill = color(bar.kind, palette);
        ui.painter().rect_filled(rect, CornerRadius::same(2), fill);
        let text = ui
            .painter()
            .layout_no_wrap(bar.name.clone(), font.clone(), palette.ink);
        if text.size().x + PADDING <= rect.width() && bar.height >= ROW {
            let at = Align2::CENTER_CENTER
                .anchor_size(rect.center(), text.size())
                .min;
            ui.painter().galley(at, text, palette.ink);
        }
        if response
            .hover_pos()
            .is_some_and(|pointer| rect.contains(pointer))
        {
            hovered = Some(format!(
                "{}: {}",
                bar.name,
                milliseconds((bar.to - bar.from) as f32)
            ));
        }
    }
    if let Some(hovered) = hovered {
        response.on_hover_text_at_pointer(hovered);
    }
    ui.label(style::hint(
        "One step, from left to right: its passes, its layers, and batches that another thread prepares; below, when each thread of the CPU was at \
         work. Hover for times.",
    ));
}

fn bars(profile: &Profile) -> Option<([f64; 2], Vec<Bar>)> {
    let mut steps = profile.steps_at.clone();
    steps.sort_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
    let step = *steps.get(steps.len() / 2)?;
    let inside = |span: &&Span| span.start >= step[0] && span.end() <= step[1];
    let bar = |name: String, row: usize, kind, from: f64, to: f64| Bar {
        name,
        top: row as f32 * ROW,
        height: ROW,
        kind,
        from,
        to,
    };
    let mut bars = vec![bar(
        format!("step of {} images", profile.side.batch_size),
        0,
        None,
        step[0],
        step[1],
    )];
    let passes = profile
        .passes()
        .into_iter()
        .filter(|[first, _]| inside(first));
    bars.extend(passes.map(|[first, last]| {
        bar(
            first.kind.label().to_owned(),
            1,
            Some(first.kind),
            first.start,
            last.end(),
        )
    }));
    for span in profile
        .spans
        .iter()
        .filter(inside)
        .filter(|span| span.thread == 0 && !span.name.is_empty())
    {
        bars.push(bar(
            span.name.clone(),
            2,
            Some(span.kind),
            span.start,
            span.end(),
        ));
    }
    // The other thread does not keep step with this one.
    for span in profile
        .spans
        .iter()
        .filter(|span| span.thread != 0 && span.start < step[1] && span.end() > step[0])
    {
        bars.push(bar(
            span.kind.label().to_owned(),
            3,
            Some(span.kind),
            span.start,
            span.end(),
        ));
    }
    for span in profile.worker_spans.iter().filter(inside) {
        let top = 4.0 * ROW + span.thread as f32 * WORKER_ROW;
        let name = format!("thread {}, {}", span.thread + 1, span.label());
        bars.push(Bar {
            name,
            top,
            height: WORKER_ROW,
            kind: Some(span.kind),
            from: span.start,
            to: span.end(),
        });
    }
    Some((step, bars))
}

fn color(kind: Option<SpanKind>, palette: Palette) -> Color32 {
    let mixed = |color: Color32, share: f32| palette.paper.lerp_to_gamma(color, share);
    match kind {
        None => mixed(palette.line, 0.6),
        Some(SpanKind::Forward) => mixed(palette.train, 0.45),
        Some(SpanKind::Backward) => mixed(palette.validation, 0.45),
        Some(SpanKind::Loss) => mixed(palette.validation, 0.25),
        Some(SpanKind::Optimizer) => mixed(palette.train, 0.25),
        Some(SpanKind::Data | SpanKind::Loading) => mixed(palette.faded, 0.35),
    }
}

fn buttons(ui: &mut Ui, view: &ProfileView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let done = if let ProfileState::Done { profile, .. } = &view.state {
            Some(profile)
        } else {
            None
        };
        let save = ui.add_enabled(done.is_some(), style::secondary_button("Save trace…"));
        if save
            .on_hover_text(
                "Every recorded step as a file that Perfetto (ui.perfetto.dev) and Chrome open",
            )
            .clicked()
            && let Some(profile) = done
        {
            let (name, bytes) = (
                "inkling-trace.json".to_owned(),
                chrome_trace(profile).into_bytes(),
            );
            actions.push(Action::SaveFile {
                title: "Save the trace",
                name,
                bytes,
            });
        }
        let running = view.state == ProfileState::Running;
        if ui
            .add_enabled(!running, style::secondary_button("Record again"))
            .clicked()
        {
            actions.push(Action::Profile);
        }
        let close = ui
            .add(style::secondary_button(if running {
                "Cancel"
            } else {
                "Close"
            }))
            .on_hover_text("Escape");
        // Whoever opened the dialog by keyboard goes on in it.
        if ui.memory(|memory| memory.focused().is_none()) {
            close.request_focus();
        }
        if close.clicked() {
            actions.push(Action::CloseProfile);
        }
    });
}
