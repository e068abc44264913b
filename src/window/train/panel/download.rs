//! The download of a data set: how far it is and Cancel, or why it failed and what to do. The
//! wizard and the run panel show it.

use eframe::egui::{Label, Ui};

use crate::text::format::{percent, remaining};
use crate::window::style;
use crate::window::{Action, DownloadState, DownloadView};

/// Shows a download until it has succeeded or was cancelled.
pub fn show(ui: &mut Ui, download: &DownloadView, actions: &mut Vec<Action>) {
    let name = download.set.label();
    match &download.state {
        DownloadState::InProgress(fraction) => {
            let done = percent(f64::from(*fraction), 0);
            let left = download
                .remaining_seconds()
                .map_or_else(String::new, |seconds| {
                    format!(", {} left", remaining(seconds))
                });
            in_progress(
                ui,
                &format!("Downloading {name}, {done}{left}"),
                *fraction,
                true,
                actions,
            );
        }
        DownloadState::Cancelling(fraction) => {
            in_progress(ui, "Cancelling…", *fraction, false, actions)
        }
        DownloadState::Failed { message, by_hand } => {
            style::invalid(ui, &message.to_string());
            if let Some(by_hand) = by_hand {
                ui.add(Label::new(style::hint(by_hand)).wrap());
            }
            ui.horizontal(|ui| {
                if ui
                    .add(style::small_button("Try again"))
                    .accessible_name(format!("Try to download {name} again"))
                    .clicked()
                {
                    actions.push(Action::Download(download.set));
                }
                if ui.add(style::small_button("Dismiss")).clicked() {
                    actions.push(Action::CancelDownload);
                }
            });
        }
    }
}

fn in_progress(
    ui: &mut Ui,
    doing: &str,
    fraction: f32,
    can_cancel: bool,
    actions: &mut Vec<Action>,
) {
    ui.label(style::hint(doing));
    ui.horizontal(|ui| {
        let cancel = style::small_button("Cancel");
        let width = ui.available_width() - 72.0;
        ui.add(
            style::progress_bar(ui, fraction)
                .desired_width(width)
                .desired_height(12.0),
        )
        .accessible_name("Download");
        if ui
            .add_enabled(can_cancel, cancel)
            .on_hover_text("What was downloaded is kept: the next download resumes there")
            .clicked()
        {
            actions.push(Action::CancelDownload);
        }
    });
}
