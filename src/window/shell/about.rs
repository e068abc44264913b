//! The About dialog: versions, the machine, and the licences of all bundled software.

use eframe::egui::{Grid, Id, Label, Modal, RichText, ScrollArea, Sense, Ui, vec2};

use crate::text::licences;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{App, about};

#[derive(Debug, Default)]
pub enum About {
    /// Not shown.
    #[default]
    Closed,
    /// Versions and the machine; true once they have been copied.
    Facts(bool),
    /// The lines of the licence texts: tens of thousands, of which only the visible ones are laid
    /// out.
    Licences(Vec<String>),
}

/// Shows the dialog while it is open.
pub fn show(ui: &Ui, app: &App, about: &mut About) {
    if matches!(about, About::Closed) {
        return;
    }
    let ctx = ui.ctx();
    let room = ctx.content_rect().size();
    let modal = Modal::new(Id::unique("about"))
        .frame(style::dialog_frame(ui))
        .show(ctx, |ui| {
            ui.set_width(660.0_f32.min(room.x - 80.0));
            heading(ui);
            ui.add_space(style::GAP / 2.0);
            // A fixed height, so that the buttons do not move when the content changes.
            let height = (room.y - 260.0).min(340.0);
            ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
                ui.set_min_height(height);
                match about {
                    About::Licences(lines) => texts(ui, lines),
                    _ => facts(ui, app),
                }
            });
            ui.add_space(style::GAP / 2.0);
            buttons(ui, app, about)
        });
    if modal.inner || modal.should_close() {
        *about = About::Closed;
    }
}

fn heading(ui: &mut Ui) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(30.0, 40.0), Sense::hover());
        icons::drop(ui.painter(), rect.center(), 38.0, style::palette(ui).accent);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.label(RichText::new("About Inkling").heading());
            ui.label(RichText::new(concat!(env!("CARGO_PKG_DESCRIPTION"), ".")).weak());
        });
    });
}

fn facts(ui: &mut Ui, app: &App) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        let width = ui.available_width() - 170.0;
        Grid::new("facts")
            .num_columns(2)
            .spacing([16.0, 6.0])
            .min_col_width(140.0)
            .show(ui, |ui| {
                for (name, value) in about::facts(app.ctx.hardware.as_ref()) {
                    ui.label(RichText::new(name).weak());
                    ui.scope(|ui| {
                        ui.set_max_width(width);
                        ui.add(Label::new(value).wrap().selectable(true));
                    });
                    ui.end_row();
                }
                ui.label(RichText::new("Licence").weak());
                ui.label("MIT or Apache-2.0, at your option");
                ui.end_row();
            });
        if app.ctx.hardware.is_none() {
            ui.label(style::hint("Detecting hardware…"));
        }
    });
}

fn texts(ui: &mut Ui, lines: &[String]) {
    let height = ui.text_style_height(&eframe::egui::TextStyle::Monospace);
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::both()
        .auto_shrink(false)
        .show_rows(ui, height, lines.len(), |ui, seen| {
            for line in &lines[seen] {
                ui.add(
                    Label::new(RichText::new(line).monospace())
                        .extend()
                        .selectable(true),
                );
            }
        });
}

/// Returns true when Close was clicked.
fn buttons(ui: &mut Ui, app: &App, about: &mut About) -> bool {
    ui.horizontal(|ui| {
        let close = ui.add(style::primary_button(ui, "Close")).clicked();
        let copied = matches!(about, About::Facts(true));
        let copy = ui
            .add(style::secondary_button("Copy"))
            .on_hover_text("Copy versions and hardware as text, for example for a bug report");
        if copy.clicked() {
            ui.ctx().copy_text(about::text(app.ctx.hardware.as_ref()));
            *about = About::Facts(true);
        }
        match about {
            About::Licences(_) => {
                if ui.add(style::secondary_button("Versions")).clicked() {
                    *about = About::Facts(false);
                }
            }
            _ => {
                if ui
                    .add(style::secondary_button("Licences"))
                    .on_hover_text("Licences of all software bundled with Inkling")
                    .clicked()
                {
                    *about = About::Licences(licences::text().lines().map(str::to_owned).collect());
                }
            }
        }
        if copied {
            ui.label(style::hint("Copied"));
        }
        close
    })
    .inner
}
