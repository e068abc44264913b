//! What is remembered between launches, and what becomes of it when its file cannot be read or
//! written.

use inkling::settings::{PresetRate, Settings, Theme, WindowGeometry};
use std::fs;
use std::time::{Duration, Instant};

use inkling::bench::step_config_of;
use inkling::run_config::{InferenceChoice, ModelKind, Preset, RunConfig};
use inkling::window::{Action, DrawAction};

use crate::fake_engine::{Answers, app_with};
use crate::meter::peak_of;

fn unusual() -> Settings {
    Settings {
        hosts: vec!["gpu-box".to_owned()],
        wizard_done: true,
        theme: Theme::Dark,
        zoom: 1.3,
        window: Some(WindowGeometry {
            position: Some([30.0, 40.0]),
            size: [1000.0, 700.0],
            maximized: false,
        }),
        config: RunConfig {
            model: ModelKind::LeNet,
            epochs: 7,
            ..RunConfig::default()
        },
        preset_rates: vec![PresetRate {
            preset: Preset::OneEpoch,
            step_config: step_config_of(&RunConfig::default()),
            images_per_second: 5000.0,
        }],
        former_learning_rate: Some(0.003),
        last_model: Some("runs/one/model.safetensors".into()),
        data_folders: vec!["some/where".into()],
        cuda_folder: Some("some/where/else".into()),
        inference_device: InferenceChoice::Fastest,
        several_digits: true,
        pen: 14.0,
        smoothing: 0.5,
        log_loss: true,
        speed_and_memory: true,
        monitor: true,
        side_panel: false,
        steps_shown: true,
    }
}

#[test]
fn settings_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/settings.json");
    unusual().save(&path).unwrap();
    assert_eq!(Settings::load(&path), (unusual(), None));
}

#[test]
fn without_a_file_the_usual_settings_are_used() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        Settings::load(&folder.path().join("none.json")),
        (Settings::default(), None)
    );
}

#[test]
fn a_file_that_makes_no_sense_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for nonsense in ["", "{", "[1, 2]", "{\"theme\": \"pink\"}", "\u{0}\u{1}"] {
        fs::write(&path, nonsense).unwrap();
        let (settings, aside) = Settings::load(&path);
        assert_eq!(settings, Settings::default());
        assert_eq!(fs::read_to_string(aside.unwrap()).unwrap(), nonsense);
        assert!(!path.exists());
    }
}

#[test]
fn a_file_of_gigabytes_is_kept_aside_unread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let ((settings, aside), peak) = peak_of(|| Settings::load(&path));
    assert_eq!(settings, Settings::default());
    assert_eq!(fs::metadata(aside.unwrap()).unwrap().len(), 3 << 30);
    assert!(!path.exists() && peak < 1 << 16, "{peak}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let (settings, aside) = Settings::load(&path);
    assert_eq!(settings, Settings::default());
    assert!(aside.unwrap().exists() && !path.exists());
    settings.save(&path).unwrap();
    assert_eq!(Settings::load(&path), (settings, None));
}

#[test]
fn values_nobody_can_work_with_are_mended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, r#"{"zoom": 0.0, "pen": 1e9, "smoothing": 5, "window": {"position": null, "size": [0, 0], "maximized": false}, "wizard_done": true}"#)
        .unwrap();
    let (settings, aside) = Settings::load(&path);
    assert!(aside.is_none() && settings.wizard_done);
    assert!(settings.zoom >= 0.5 && settings.pen <= 40.0 && settings.smoothing < 1.0);
    assert_eq!(settings.window, None);
}

#[test]
fn changes_are_written_by_themselves_and_at_the_end() {
    let (mut app, engine) = app_with(unusual(), Answers::default());
    let path = engine.home.path().join("settings.json");
    app.apply(DrawAction::SetPen(22.0));
    let start = Instant::now();
    while !path.exists() {
        app.poll();
        std::thread::sleep(Duration::from_millis(10));
        assert!(start.elapsed() < Duration::from_secs(30), "never written");
    }
    assert_eq!(Settings::load(&path).0.pen, 22.0);
    app.apply(Action::SetTheme(Theme::Light));
    app.close();
    assert_eq!(
        Settings::load(&path).0,
        Settings {
            pen: 22.0,
            theme: Theme::Light,
            ..unusual()
        }
    );
}

#[test]
fn a_folder_that_cannot_be_written_costs_one_quiet_notice() {
    let (mut app, engine) = app_with(unusual(), Answers::default());
    // A folder where the file should go cannot be replaced by a file, whoever runs the test.
    fs::create_dir_all(engine.home.path().join("settings.json/in the way")).unwrap();
    app.apply(DrawAction::SetPen(22.0));
    let start = Instant::now();
    while app.ctx.notices.is_empty() {
        app.poll();
        std::thread::sleep(Duration::from_millis(10));
        assert!(start.elapsed() < Duration::from_secs(30), "never said");
    }
    app.apply(DrawAction::SetPen(23.0));
    for _ in 0..100 {
        app.poll();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(app.ctx.notices.len(), 1);
    app.close();
}
