//! The curves as a file.

use inkling::protocol::Event;
use inkling::records::LearningRateChange;
use inkling::window::plots::figure::{Contents, Panel, SIZE, png, svg};
use inkling::window::plots::scale::{XAxis, XUnit, YAxis};
use inkling::window::{Action, style};

use super::panel::training;
use crate::fake_engine::Answers;
use crate::window::stage::{Driven, Seen};

#[test]
fn a_png_shows_lines_and_text_where_the_svg_has_them() {
    let [width, height] = SIZE;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"Ubuntu\">
<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>
<polyline points=\"100,500.5 900,500.5\" stroke=\"#c80000\" stroke-width=\"3\"/>
<polygon points=\"1190,300 1200,290 1210,300 1200,310\" fill=\"#c80000\"/>
<text x=\"400\" y=\"107.7\" font-size=\"22\" text-anchor=\"middle\">Loss</text>
</svg>"
    );
    let image = image::load_from_memory(&png(&svg).unwrap())
        .unwrap()
        .to_rgb8();
    assert_eq!(image.dimensions(), (SIZE[0] as u32, SIZE[1] as u32));
    let at = |x, y| image.get_pixel(x, y).0;
    assert_eq!([at(500, 500), at(1200, 300)], [[200, 0, 0]; 2]);
    assert_eq!(
        [at(500, 490), at(95, 500), at(1215, 300)],
        [[255; 3]; 3],
        "and nothing beside them"
    );
    let dark = |left: u32, right: u32| (left..right).any(|x| (85..115).any(|y| at(x, y)[0] < 80));
    assert!(dark(370, 430), "the text is there");
    assert!(!dark(200, 350) && !dark(450, 600), "and centered");
}

#[test]
fn an_svg_is_xml_whatever_its_texts_are() {
    let panel = |name| Panel {
        name,
        traces: Vec::new(),
        y: YAxis {
            log: false,
            in_percent: false,
            from_zero: true,
            least_range: 1.0,
            without_data: (0.0, 1.0),
        },
    };
    let contents = Contents {
        title: "a < b & \"c\" \u{7}> d".to_owned(),
        subtitle: String::new(),
        note: "",
        panels: [panel("Loss"), panel("Accuracy")],
        x: XAxis {
            unit: XUnit::Step,
            steps_per_epoch: 1.0,
        },
        range: [1.0, 2.0],
        rate_changes: &[],
    };
    let svg = svg(&contents, style::on_white());
    assert!(svg.contains("a &lt; b &amp; \"c\" &gt; d</text>"), "{svg}");
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert!(png(&svg).is_some());
}

#[test]
fn the_figure_names_the_run_and_its_curves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curves.svg");
    let mut harness = training(12, Answers::file(&file));
    harness.click("Save");
    harness.click("Figure (SVG)");
    let Some(Action::SaveFile { name, bytes, .. }) = harness.state().done.last() else {
        panic!("nothing was saved")
    };
    assert!(name.ends_with("-curves.svg"), "{name}");
    let svg = String::from_utf8(bytes.clone()).unwrap();
    let config = &harness.the_run().config;
    let title = format!("{} on {}", config.model.label(), config.data.label());
    for said in [
        title.as_str(),
        "validation accuracy 92.00% after epoch 1",
        "Training, smoothed",
        "Validation",
        "Loss (nats)",
        "Accuracy",
        "Step",
    ] {
        assert!(svg.contains(said), "{said} is not in: {svg}");
    }
    assert!(
        svg.matches("<polyline").count() >= 6 && svg.matches("<polygon").count() >= 3,
        "{svg}"
    );
}

#[test]
fn a_png_is_painted_aside_and_then_saved() {
    let mut harness = training(12, Answers::default());
    harness.click("Save");
    harness.click("Figure (PNG)");
    let is_saved = |action: &Action| matches!(action, Action::SaveFile { bytes, .. } if bytes.starts_with(b"\x89PNG"));
    while !harness.state().done.iter().any(is_saved) {
        std::thread::yield_now();
        harness.step();
    }
}

#[test]
fn a_figure_marks_where_the_learning_rate_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = training(12, Answers::file(folder.path().join("curves.svg")));
    let mut saved = || {
        harness.click("Save");
        harness.click("Figure (SVG)");
        let Some(Action::SaveFile { bytes, .. }) = harness.state().done.last() else {
            panic!("nothing was saved")
        };
        let svg = String::from_utf8(bytes.clone()).unwrap();
        let run = harness.the_run().id;
        let change = LearningRateChange {
            step: 6,
            factor: 0.1,
        };
        harness
            .state_mut()
            .app
            .on_event(Event::RateChanged { run, change });
        harness.run();
        svg
    };
    let [before, after] = [saved(), saved()];
    assert!(!before.contains("Learning rate changed"));
    assert!(after.contains("Learning rate changed"), "{after}");
    assert_eq!(after.matches("rate × 0.1").count(), 2, "in both panels");
    let dotted = |svg: &str| svg.matches("stroke-dasharray=\"3 5\"").count();
    assert_eq!((dotted(&before), dotted(&after)), (0, 3));
}
