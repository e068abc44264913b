//! The row of the run panel that chooses what to learn from, and the download of a data set: how
//! far it is and Cancel, or why it failed and what to do. The wizard shows that as well.

use eframe::egui::{Button, ComboBox, Ui};

use super::fields::{below, below_entry, entry, row};
use crate::run_config::{DataSource, DataSpec, PublicDataset, Setting};
use crate::text::format::{count, file_size, grouped, percent, remaining};
use crate::text::visible;
use crate::window::{Action, App, DownloadState, DownloadView, Pushes as _, TrainAction, style};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let label = app.ctx.config.data.label();
    let response = row(ui, "Data set", |ui| {
        // Tall enough that no data set is hidden below the edge.
        let list = ComboBox::from_id_salt("data").width(ui.available_width());
        let list = list.height(560.0).truncate().selected_text(&label);
        list.show_ui(ui, |ui| entries(ui, app, actions)).response
    });
    let description = description(app);
    let response = style::explain_list(response, &label, &description);
    ui.label(style::hint(description));
    below(ui, app, Setting::Data, &response);
    if let Some(download) = &app.train.download {
        download_progress(ui, download, actions);
    }
    // With the next run, they are shown with the images beside the panel.
    if !app.train.shows_next_run()
        && let [first, others @ ..] = app.train.data_issues(&app.ctx).as_slice()
    {
        let more = match others.len() {
            0 => String::new(),
            1 => " 1 more problem was found.".to_owned(),
            many => format!(" {many} more problems were found."),
        };
        let line = style::caution(ui, &format!("{first}{more}"));
        if !others.is_empty() {
            line.on_hover_text(others.join("\n"));
        }
    }
}

fn entries(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut choose = |ui: &mut Ui, data: DataSpec, name: &str, why_not: Option<&str>| {
        if entry(ui, app.ctx.config.data == data, name, why_not) {
            let mut config = app.ctx.config.clone();
            config.data = data;
            actions.push(Action::Train(TrainAction::Configure(Box::new(config))));
        }
    };
    choose(ui, DataSpec::builtin(), "Built-in digits", None);
    if let Some(mixed) = app.train.mnist_and_builtin(&app.ctx) {
        let name = mixed.label();
        choose(ui, mixed, &name, None);
    }
    let mut downloads = None;
    for set in PublicDataset::ALL {
        let (source, why_not) = match app.train.found_set(set) {
            Some(found) => (app.ctx.source_of(found), None),
            None if app.train.found.is_none() => (DataSource::Named(set), Some("Searching…")),
            None => {
                if missing(ui, app, set) {
                    downloads = Some(TrainAction::Download(set).into());
                }
                continue;
            }
        };
        choose(ui, DataSpec::single(source), set.label(), why_not);
    }
    let none = app.my_digits.drawings().is_empty();
    let why_not = none.then_some("No drawings yet: see My digits.");
    choose(ui, DataSpec::single(DataSource::Mine), "My digits", why_not);
    for folder in &app.ctx.settings.data_folders {
        let source = DataSource::Path(folder.clone());
        let name = source.label();
        choose(ui, DataSpec::single(source), &name, None);
    }
    actions.extend(downloads);
    ui.separator();
    let about = "Four IDX files, image folders with one subfolder per digit or with the digit in each name, CSV files, Parquet files or ink files";
    style::ask(ui, Button::new("Choose a folder…"), None, about)
        .pushes(actions, || TrainAction::ChooseDataFolder);
}

/// A data set that was not found, which can be downloaded; true when it is to be.
fn missing(ui: &mut Ui, app: &App, set: PublicDataset) -> bool {
    let download = app.train.download.as_ref();
    let busy = download.filter(|download| download.is_active());
    let (possible, about) = match (app.train.download_size(set), busy) {
        (Some(size), None) => (true, format!("Downloads {}", file_size(size))),
        (_, Some(busy)) if busy.set == set => (false, "Downloading…".to_owned()),
        _ => (false, "Another download is in progress".to_owned()),
    };
    let button = ui.add_enabled(possible, Button::selectable(false, set.label()));
    if button.clicked() {
        ui.close();
    }
    below_entry(ui, &about);
    button.clicked()
}

/// A sentence about the chosen data.
pub fn description(app: &App) -> String {
    match app.ctx.config.data.sources() {
        [DataSource::Builtin] => "60,000 synthetic handwritten-style digits. Ready in seconds.".to_owned(),
        [DataSource::Mine] => {
            format!("The {} you have kept.", count(app.my_digits.drawings().len() as u64, "drawing"))
        }
        [source] => match app.train.found.iter().flatten().find(|found| app.ctx.source_of(found) == *source) {
            Some(found) => format!(
                "{} training and {} test images, in {}.",
                grouped(found.train_images),
                grouped(found.test_images),
                visible::path(&found.folder)
            ),
            None => format!("In {}.", source.name()),
        },
        _ if app.train.mnist_and_builtin(&app.ctx).as_ref() == Some(&app.ctx.config.data) => {
            "Best for your own drawings: MNIST, and half as many built-in digits for shapes that it lacks. Tested on MNIST.".to_owned()
        }
        _ => "Several data sets combined; the first one's test set is used for testing.".to_owned(),
    }
}

/// Shows a download until it has succeeded or was cancelled.
pub fn download_progress(ui: &mut Ui, download: &DownloadView, actions: &mut Vec<Action>) {
    let name = download.set.label();
    let (doing, fraction, can_cancel) = match &download.state {
        DownloadState::InProgress(fraction) => {
            let done = percent(f64::from(*fraction), 0);
            let left = download.remaining_seconds().map(remaining);
            let left = left.map_or_else(String::new, |left| format!(", {left} left"));
            (format!("Downloading {name}, {done}{left}"), *fraction, true)
        }
        DownloadState::Cancelling(fraction) => ("Canceling…".to_owned(), *fraction, false),
        DownloadState::Failed { message, by_hand } => {
            style::invalid(ui, &message.to_string());
            if let Some(by_hand) = by_hand {
                style::note(ui, by_hand);
            }
            ui.horizontal(|ui| {
                ui.add(style::small_button("Try again"))
                    .accessible_name(format!("Try to download {name} again"))
                    .pushes(actions, || TrainAction::Download(download.set));
                ui.add(style::small_button("Dismiss"))
                    .pushes(actions, || TrainAction::CancelDownload);
            });
            return;
        }
    };
    ui.label(style::hint(doing));
    ui.horizontal(|ui| {
        let width = ui.available_width() - 72.0;
        let bar = style::progress_bar(ui, fraction).desired_width(width);
        ui.add(bar.desired_height(12.0)).accessible_name("Download");
        ui.add_enabled(can_cancel, style::small_button("Cancel"))
            .on_hover_text("What was downloaded is kept: the next download resumes there")
            .pushes(actions, || TrainAction::CancelDownload);
    });
}
