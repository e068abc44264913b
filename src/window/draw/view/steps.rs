//! "How Inkling sees it": each step from what is on the canvas to the image that the model takes as
//! input, with its image and a switch.

use eframe::egui::{
    Align, Checkbox, Color32, ColorImage, Key, KeyboardShortcut, Label, Layout, Modifiers, Rect,
    RichText, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

use super::ink::Node;
use super::tools::STEPS;
use super::{DrawView, bars, ink};
use crate::ink::{SIDE, Stage, StageImage, StageKind, Step};
use crate::text::format::count;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::{Action, App, DrawAction, Pushes as _, style};

const TITLE: &str = "How Inkling sees it";
/// The least and the greatest side of an image, in points: at least two to a pixel of the model's
/// input.
const IMAGE: std::ops::RangeInclusive<f32> = 48.0..=112.0;
/// The least height of a step with its explanation, in points.
const ROW: f32 = 54.0;
/// From this height on, in points, there is room for the bars above the steps.
const WITH_BARS: f32 = 240.0;
const DRAWING: [StageKind; 4] = [
    StageKind::Drawn,
    StageKind::Step(Step::Scaling),
    StageKind::Step(Step::Pen),
    StageKind::Step(Step::Centering),
];

#[derive(Default)]
pub struct StepsView {
    /// The version of the stages that the textures show.
    version: Option<u64>,
    textures: Vec<Option<TextureHandle>>,
    /// The button that folds the steps away takes the focus of the one that showed them.
    focus_button: bool,
}

impl std::fmt::Debug for StepsView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepsView")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// The name of a stage, and what its step does; or what happens instead if it is left out.
const fn words(kind: StageKind, on: bool) -> [&'static str; 2] {
    let [name, done, left_out] = match kind {
        StageKind::Drawn => ["Your drawing", "As you drew it, with your pen.", ""],
        StageKind::Gray => ["Grayscale", "Only brightness counts, not color.", ""],
        StageKind::Step(Step::Lighting) => [
            "Background estimation",
            "The paper's brightness is fitted by a smooth surface and subtracted, so that shadows are not ink.",
            "Off: shadows and uneven light stay.",
        ],
        StageKind::Step(Step::Threshold) => [
            "Thresholding",
            "What stands out clearly from the paper is ink; everything else is background.",
            "Off: the paper's texture stays, and counts as faint ink.",
        ],
        StageKind::Step(Step::Specks) => [
            "Noise removal",
            "Small specks and anything that runs off the edge of the image are removed (connected components).",
            "Off: specks stay, and count as part of the digit.",
        ],
        StageKind::Step(Step::Scaling) => [
            "Size normalization",
            "Scaled to fit a box of 20 × 20 pixels, whatever its size and place.",
            "Off: everything is scaled down together, empty space included.",
        ],
        StageKind::Step(Step::Pen) => [
            "Stroke width",
            "Redrawn 2.4 pixels wide, as in MNIST, whatever pen was used.",
            "Off: strokes stay as thick or thin as they are.",
        ],
        StageKind::Step(Step::Centering) => [
            "Center of mass",
            "Moved to the middle. This is all that the model sees.",
            "Off: it is not moved. This is all that the model sees.",
        ],
    };
    [name, if on { done } else { left_out }]
}

/// The button that shows the steps or folds them away.
pub fn header(ui: &mut Ui, app: &App, view: &mut StepsView, actions: &mut Vec<Action>) {
    let shown = app.ctx.settings.steps_shown;
    let button = ui.add(style::toggle(TITLE, shown));
    if std::mem::take(&mut view.focus_button) {
        button.request_focus();
    }
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, shown, TITLE));
    let keys = ui.ctx().format_shortcut(&STEPS);
    let about = if shown {
        "Hide the steps"
    } else {
        "Each step from your drawing to this image, with a switch to see what it does"
    };
    view.focus_button = button.clicked() && button.has_focus();
    button
        .on_hover_text(format!("{about} ({keys})"))
        .pushes(actions, || DrawAction::ShowSteps(!shown));
}

/// The buttons that copy and save the image that the model sees, or, if steps are left out of it, a
/// warning in their place.
pub fn image_tools(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let left_out = app.draw.steps().left_out().count();
    ui.horizontal(|ui| {
        if left_out > 0 {
            style::caution(ui, &format!("{} off", count(left_out as u64, "step")));
            restore(ui, app, actions);
        } else {
            copy_and_save(ui, app, actions);
        }
    });
}

fn copy_and_save(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.x = 2.0;
    let there = app.draw.prediction_shown(&app.ctx).is_some();
    let copy = KeyboardShortcut::new(Modifiers::COMMAND, Key::C);
    let copy = format!(" ({})", ui.ctx().format_shortcut(&copy));
    for (icon, name, does, keys, action) in [
        (
            Icon::Copy,
            "Copy",
            "Copy",
            copy.as_str(),
            DrawAction::CopyImage,
        ),
        (Icon::Save, "Save PNG…", "Save", "", DrawAction::SaveImage),
    ] {
        let about = format!("{does} the 28 × 28 image that the model sees{keys}");
        let button = ui.add_enabled(there, style::icon_button(icon));
        button
            .accessible_name(name)
            .on_hover_text(about)
            .on_disabled_hover_text("Draw something first")
            .pushes(actions, || action);
    }
}

/// The button that restores the steps that are left out.
fn restore(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let about = format!(
        "{} off: turn all steps on again",
        count(app.draw.steps().left_out().count() as u64, "step")
    );
    ui.add(style::small_button("Restore all steps"))
        .on_hover_text(about)
        .pushes(actions, || DrawAction::RestoreSteps);
}

/// Draws the steps in what is left of the column, below the bars if there is room for both.
pub fn show(ui: &mut Ui, app: &App, view: &mut DrawView, actions: &mut Vec<Action>) {
    let stages = app.draw.stages();
    let kinds: Vec<StageKind> = if stages.is_empty() {
        DRAWING.to_vec()
    } else {
        stages.iter().map(|stage| stage.kind).collect()
    };
    view.steps.upload(ui, app);
    let opened = app
        .draw
        .image_shown(&app.ctx)
        .map(|image| view.image.texture(ui, image));
    let view = &mut view.steps;
    ui.spacing_mut().item_spacing.y = 4.0;
    let header_height = ui.spacing().interact_size.y + ui.spacing().item_spacing.y;
    let rows = kinds.len() as f32 + if opened.is_some() { 1.0 } else { 0.0 };
    let bars = ui.available_height() - header_height - rows * ROW - style::GAP;
    if bars >= WITH_BARS {
        let height = bars.min(ui.available_height() * 0.45);
        ui.scope(|ui| {
            bars::horizontal(
                ui,
                app.draw.prediction_shown(&app.ctx),
                &app.ctx.classes(),
                height,
                None,
            );
        });
        ui.add_space(style::GAP / 2.0);
    }
    ui.horizontal(|ui| {
        header(ui, app, view, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if app.draw.steps().left_out().next().is_none() {
                copy_and_save(ui, app, actions);
            } else {
                restore(ui, app, actions);
            }
        });
    });
    let side = ((ui.available_height() / rows).floor() - ui.spacing().item_spacing.y)
        .clamp(*IMAGE.start(), *IMAGE.end());
    style::scroll(ui, "steps", |ui| {
        if let Some(texture) = &opened {
            let words = ["Image file", "As it was opened."];
            row(ui, words, None, &Shown::Opened(texture), side, actions);
        }
        for (index, kind) in kinds.into_iter().enumerate() {
            let switch = match kind {
                StageKind::Step(step) => Some((step, app.draw.steps().has(step))),
                _ => None,
            };
            let words = words(kind, switch.is_none_or(|(_, on)| on));
            let texture = view.textures.get(index).and_then(Option::as_ref);
            let shown = match stages.get(index) {
                Some(stage) => Shown::Stage(stage, texture),
                None => Shown::Nothing,
            };
            row(ui, words, switch, &shown, side, actions);
        }
    });
}

enum Shown<'a> {
    Nothing,
    Opened(&'a TextureHandle),
    Stage(&'a Stage, Option<&'a TextureHandle>),
}

/// An image, beside it the name with the switch, and what the step does.
fn row(
    ui: &mut Ui,
    [name, about]: [&str; 2],
    switch: Option<(Step, bool)>,
    shown: &Shown<'_>,
    side: f32,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 0.75;
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
        style::name(&response, Role::Image, &format!("{name}, image"));
        paint(ui, shown, rect);
        ui.vertical(|ui| {
            ui.set_min_height(ROW.max(side) - ui.spacing().item_spacing.y);
            ui.spacing_mut().item_spacing.y = 0.0;
            let name = RichText::new(name).semibold();
            if let Some((step, mut on)) = switch {
                let check = ui.add(Checkbox::new(&mut on, name));
                if check.on_hover_text(about).changed() {
                    actions.push(DrawAction::SwitchStep { step, on }.into());
                }
            } else {
                ui.label(name);
            }
            let text = RichText::new(about).small();
            let is_off = switch.is_some_and(|(_, on)| !on);
            ui.add(Label::new(if is_off { text } else { text.weak() }).wrap());
        });
    });
}

fn paint(ui: &Ui, shown: &Shown<'_>, rect: Rect) {
    let palette = style::palette(ui);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.rect_filled(rect, 0.0, palette.paper);
    let texture_in = |texture: &TextureHandle, tint| {
        let [width, height] = texture.size().map(|side| side as f32);
        let at = Rect::from_center_size(
            rect.center(),
            vec2(width, height) * (rect.width() / width.max(height)),
        );
        painter.image(
            texture.id(),
            at,
            Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)),
            tint,
        );
    };
    match shown {
        Shown::Stage(
            Stage {
                image: StageImage::Strokes { strokes, pen, size },
                kind,
            },
            _,
        ) => {
            let scale = rect.width() / size[0].max(size[1]);
            let origin = rect.center() - vec2(size[0], size[1]) * scale / 2.0;
            if matches!(kind, StageKind::Step(Step::Scaling)) {
                // MNIST's box of 20x20 pixels.
                painter.rect_stroke(
                    rect.shrink(rect.width() * 4.0 / SIDE as f32),
                    0.0,
                    Stroke::new(1.0, palette.line),
                    StrokeKind::Middle,
                );
            }
            for points in strokes {
                let radius = (pen * scale / 2.0).max(0.5);
                let points = points
                    .iter()
                    .map(|[x, y]| Node::new(origin + vec2(*x, *y) * scale, radius));
                painter.add(ink::stroke(
                    points,
                    palette.ink,
                    ui.pixels_per_point().recip(),
                ));
            }
        }
        Shown::Stage(stage, Some(texture)) => {
            texture_in(
                texture,
                if matches!(stage.image, StageImage::Light(_)) {
                    Color32::WHITE
                } else {
                    palette.ink
                },
            );
        }
        Shown::Opened(texture) => texture_in(texture, Color32::WHITE),
        Shown::Nothing | Shown::Stage(..) => {}
    }
    style::outline(&painter, rect, 1.0, palette.line);
}

impl StepsView {
    /// Makes textures of stages that have changed.
    fn upload(&mut self, ui: &Ui, app: &App) {
        if self.version.replace(app.draw.stages_version()) == Some(app.draw.stages_version()) {
            return;
        }
        let texture = |stage: &Stage| {
            let ink = |size, values: &mut dyn Iterator<Item = u8>| {
                ColorImage::new(size, values.map(Color32::from_white_alpha).collect())
            };
            let byte = |value: &f32| (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            let (image, options) = match &stage.image {
                StageImage::Strokes { .. } => return None,
                StageImage::Light(gray) => {
                    let values: Vec<u8> = gray.values().iter().map(byte).collect();
                    (
                        ColorImage::from_gray(gray.size(), &values),
                        TextureOptions::LINEAR,
                    )
                }
                StageImage::Ink(gray) => (
                    ink(gray.size(), &mut gray.values().iter().map(byte)),
                    TextureOptions::LINEAR,
                ),
                StageImage::Model(image) => (
                    ink([SIDE; 2], &mut image.pixels().iter().copied()),
                    TextureOptions::NEAREST,
                ),
            };
            Some(ui.ctx().load_texture("step", image, options))
        };
        self.textures = app.draw.stages().iter().map(texture).collect();
    }
}
