//! The download of a data set, in the wizard and in the run panel.

use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use inkling::run_config::{DataSource, DataSpec, PublicDataset};
use inkling::window::{Action, DownloadState, TrainAction, WizardStep};

use crate::fake_engine::{Answers, Download};
use crate::window::stage::{Driven, Seen, Window, first_launch, usual};

fn shows(window: &Window, text: &str) -> bool {
    window.mentions(text)
}

#[test]
fn the_wizard_downloads_mnist_and_recommends_it() {
    let (mut window, engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some() && app.train.found.is_some());
    window.act(Action::Wizard(WizardStep::Data));
    window.click("Download MNIST (11.6 MB)");
    engine.server.send(Download::Sends(0.34)).unwrap();
    window.until(|app| matches!(app.train.download.as_ref().map(|download| &download.state), Some(DownloadState::InProgress(fraction)) if *fraction > 0.3));
    assert!(shows(&window, "Downloading MNIST, 34%"));
    assert!(
        !window.has("Download MNIST (11.6 MB)"),
        "it is not started twice"
    );
    engine.server.send(Download::Completes).unwrap();
    window.until(|app| app.train.download.is_none());
    let mixed = DataSpec::with_builtin(DataSource::Named(PublicDataset::Mnist));
    assert_eq!(
        window.app().ctx.config.data,
        mixed,
        "as it is recommended where MNIST is there"
    );
    assert!(shows(&window, "60 training and 10 test images"));
}

#[test]
fn what_fails_says_why_and_can_be_tried_again() {
    let (mut window, engine) = usual();
    window.until(|app| app.train.found.is_some());
    window
        .get_by_role_and_label(Role::ComboBox, "Data set")
        .click();
    window.run_steps(3);
    assert!(shows(&window, "Downloads 11.6 MB"));
    window.get_by_label("MNIST").click();
    engine.server.send(Download::IsAway).unwrap();
    window.until(|app| {
        app.train
            .download
            .as_ref()
            .is_some_and(|download| !download.is_active())
    });
    assert!(shows(
        &window,
        "Could not connect to https://example.org/mnist/: no route to host."
    ));
    assert!(shows(
        &window,
        "Manually: download train-labels-idx1-ubyte.gz"
    ));
    assert_eq!(window.app().ctx.config.data, DataSpec::builtin());
    window.get_by_label("Try to download MNIST again").click();
    engine.server.send(Download::Completes).unwrap();
    window.until(|app| app.train.download.is_none());
    assert_eq!(
        window.app().ctx.config.data,
        DataSpec::single(DataSource::Named(PublicDataset::Mnist)),
        "the next run trains on it"
    );
    assert!(window.app().validation_errors().is_empty());
}

#[test]
fn it_can_be_cancelled_and_what_was_chosen_meanwhile_stays() {
    let (mut window, engine) = usual();
    window.until(|app| app.train.found.is_some());
    window.act(TrainAction::Download(PublicDataset::Mnist));
    window.get_by_label("Cancel").click();
    window.until(|app| app.train.download.is_none());
    assert!(
        window.app().ctx.notices.is_empty(),
        "there is nothing to say about that"
    );

    window.apply(TrainAction::Download(PublicDataset::Mnist));
    window.apply(TrainAction::Download(PublicDataset::Kmnist));
    assert_eq!(
        window.app().train.download.as_ref().unwrap().set,
        PublicDataset::Mnist,
        "one at a time"
    );
    window.configure(|config| config.data = DataSpec::single(DataSource::Mine));
    engine.server.send(Download::Completes).unwrap();
    window.until(|app| app.train.download.is_none());
    assert_eq!(
        window.app().ctx.config.data,
        DataSpec::single(DataSource::Mine)
    );
}

#[test]
fn the_wizard_recommends_the_download_where_there_is_a_network() {
    for no_network in [false, true] {
        let (mut window, _engine) = first_launch(Answers {
            no_network,
            ..Answers::default()
        });
        window.until(|app| app.ctx.hardware.is_some() && app.train.found.is_some());
        window.act(Action::Wizard(WizardStep::Data));
        assert_eq!(
            shows(&window, "MNIST + Built-in digits (recommended)"),
            !no_network
        );
        let [download, builtin] =
            ["Download MNIST (11.6 MB)", "Built-in digits"].map(|name| window.rect(name));
        assert_eq!(
            download.top() < builtin.top(),
            !no_network,
            "what is recommended comes first"
        );
        assert!(
            shows(&window, "harder to recognize than MNIST's"),
            "why the accuracy will be lower is said where the data is chosen"
        );
    }
}

#[test]
fn a_download_in_the_wizard_chooses_what_it_recommends_also_after_another_choice() {
    let (mut window, engine) = first_launch(Answers::default());
    window.until(|app| app.ctx.hardware.is_some() && app.train.found.is_some());
    window.act(Action::Wizard(WizardStep::Data));
    window.click("Built-in digits");
    window.click("Download MNIST (11.6 MB)");
    engine.server.send(Download::Completes).unwrap();
    window.until(|app| app.train.download.is_none());
    assert_eq!(
        window.app().ctx.config.data,
        DataSpec::with_builtin(DataSource::Named(PublicDataset::Mnist))
    );
}
