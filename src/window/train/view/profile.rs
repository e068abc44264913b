//! Where the time of a training step goes: the step as a flame graph, and tables of its passes and
//! layers.

use eframe::egui::{
    Align2, Color32, CornerRadius, Rect, Role, ScrollArea, Sense, TextStyle, Ui, pos2, vec2,
};

use crate::bench::{busy, chrome_trace, profile_sections};
use crate::protocol::JobResult;
use crate::records::benchmark::BUSY;
use crate::records::{Profile, Span, SpanKind};
use crate::text::format::milliseconds;
use crate::window::style::{self, Palette, table};
use crate::window::{Action, Pushes as _, Search, SearchAction, SearchKind};

/// The greatest height of the tables, and what stands around them in the dialog, in points.
const HEIGHT: f32 = 560.0;
const AROUND: f32 = 190.0;
/// The height of a row of the flame graph, and of a worker thread's below it, in points.
const ROW: f32 = 22.0;
const WORKER_ROW: f32 = 10.0;
/// A name is written into a bar that is at least so much wider than it, in points.
const PADDING: f32 = 8.0;

/// The content of the dialog, in a window of this height.
pub(super) fn content(ui: &mut Ui, window: f32, show: impl FnOnce(&mut Ui)) {
    let height = (window - AROUND).min(HEIGHT);
    style::room(ui, height, |ui| {
        ScrollArea::vertical()
            .auto_shrink(false)
            .max_height(height)
            .show(ui, show);
    });
    ui.add_space(style::GAP / 2.0);
}

pub(super) fn result(ui: &mut Ui, profile: &Profile, background_load: f32) {
    style::strong(ui, profile.summary());
    if background_load > BUSY {
        style::caution(ui, &busy(background_load));
    }
    ui.add_space(style::GAP / 2.0);
    flame_graph(ui, profile);
    table::show(ui, &profile_sections(profile));
}

pub(super) fn buttons(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    let done = match view.result() {
        Some(JobResult::Profile { profile, .. }) => Some(profile),
        _ => None,
    };
    let save = ui.add_enabled(done.is_some(), style::secondary_button("Save trace…"));
    let about = "Every recorded step as a file that Perfetto (ui.perfetto.dev) and Chrome open";
    if save.on_hover_text(about).clicked()
        && let Some(profile) = done
    {
        actions.push(Action::SaveFile {
            title: "Save the trace",
            name: "inkling-trace.json".to_owned(),
            bytes: chrome_trace(profile).into_bytes(),
        });
    }
    let again = ui.add_enabled(!view.is_running(), style::secondary_button("Record again"));
    again.pushes(actions, || SearchAction::Open(SearchKind::Profile));
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
    style::describe(
        &response,
        Role::Figure,
        "Flame graph of a step",
        &profile.summary(),
    );
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
        "One step, from left to right: its passes, its layers, and batches that another thread prepares; below, when each CPU thread was busy. Hover for times.",
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
        format!("step of {} images", profile.step_config.batch_size),
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
