//! A model whose classes are no digits: they are called by their names.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use inkling::protocol::Event;
use inkling::records::ModelInfo;
use inkling::run_config::{DataSource, DataSpec, NamedSet};

use crate::fake_engine::starter;
use crate::ui::stage::{Panel, Stage, serve, stage, stroke, value};

/// A panel with a model of Fashion-MNIST in use.
fn of_clothing(panel: Panel, size: [f32; 2]) -> Harness<'static, Stage> {
    let mut harness = stage(panel, size);
    let data = DataSpec::single(DataSource::Named(NamedSet::FashionMnist));
    let engine = &mut harness.state_mut().engine;
    engine.data = data.clone();
    engine.send(Event::ModelInUse(ModelInfo { classes: data.classes(), data, ..starter() }));
    harness.run();
    harness
}

#[test]
fn a_drawing_is_called_by_the_name_of_its_class() {
    for panel in [Panel::Draw, Panel::Compact] {
        let mut harness = of_clothing(panel, [900.0, 600.0]);
        let rect = harness.get_by_label("Drawing canvas").rect();
        stroke(&mut harness, &[rect.center(), rect.center() + rect.size() * 0.2], false);
        serve(&mut harness);
        assert_eq!(value(&harness, "Verdict"), "Trousers — 96 % sure");
        assert_eq!(value(&harness, "Probability of Ankle boot"), "1 %");
        assert!(harness.query_by_label("Probability of 1").is_none());
        // Only digits are kept among one's digits.
        assert!(harness.query_by_label_contains("Keep as").is_none());
    }
}

#[test]
fn results_are_by_the_names_of_the_classes() {
    for size in [[600.0, 2000.0], [1280.0, 1600.0], [1920.0, 1080.0]] {
        let mut harness = of_clothing(Panel::Results, size);
        harness.get_by_label("Evaluate").click();
        serve(&mut harness);
        assert_eq!(value(&harness, "Accuracy for Coat"), "90.00 %, 1 of 10 wrong");
        assert!(harness.query_by_label("True class Coat, predicted Ankle boot, probability 93 %").is_some());
        harness.get_by_label("One image of the class Coat was classified as Ankle boot").click();
        harness.run();
        assert_eq!(value(&harness, "True and predicted classes"), "One image of the class Coat was classified as Ankle boot");
    }
}
