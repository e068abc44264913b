//! The curves as a file.

use eframe::egui::epaint::{Mesh, Vertex};
use eframe::egui::{Color32, ColorImage, pos2};
use inkling::window::Action;
use inkling::window::plots::figure::{Anchor, Drawing, Element, SIZE, mesh, png, svg};

use super::panel::training;
use crate::fake_engine::Answers;
use crate::window::stage::{Driven, Seen};

fn text(at: [f32; 2], text: &str) -> Element {
    Element::Text {
        at,
        text: text.to_owned(),
        size: 22.0,
        color: Color32::BLACK,
        anchor: Anchor::Middle,
        upright: false,
    }
}

#[test]
fn a_png_shows_lines_and_text_where_they_are_laid_out() {
    let red = Color32::from_rgb(200, 0, 0);
    let line = Element::Line {
        points: vec![[100.0, 500.5], [900.0, 500.5]],
        width: 3.0,
        color: red,
        dashed: false,
    };
    let diamond = Element::Diamond {
        at: [1200.0, 300.0],
        radius: 10.0,
        color: red,
    };
    let image = image::load_from_memory(
        &png(&Drawing(vec![line, diamond, text([400.0, 100.0], "Loss")])).unwrap(),
    )
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
    assert!(!dark(200, 350) && !dark(450, 600), "and centred");
}

#[test]
fn triangles_that_share_an_edge_leave_no_seam() {
    let half = Color32::from_rgba_premultiplied(0, 0, 0, 128);
    let at = |x: f32, y: f32| Vertex {
        pos: pos2(x, y),
        uv: pos2(0.0, 0.0),
        color: half,
    };
    let corners = vec![at(2.0, 2.0), at(12.0, 2.0), at(12.0, 12.0), at(2.0, 12.0)];
    let square = Mesh {
        indices: vec![0, 1, 2, 2, 3, 0],
        vertices: corners,
        ..Mesh::default()
    };
    let mut image = ColorImage::filled([14, 14], Color32::WHITE);
    mesh(
        &mut image,
        &square,
        &ColorImage::filled([1, 1], Color32::WHITE),
    );
    for y in 0..14 {
        for x in 0..14 {
            let inside = (2..12).contains(&x) && (2..12).contains(&y);
            assert_eq!(
                image[(x, y)].r(),
                if inside { 127 } else { 255 },
                "at {x}, {y}"
            );
        }
    }
}

#[test]
fn an_svg_is_xml_whatever_its_texts_are() {
    let svg = svg(&Drawing(vec![text([10.0, 20.0], "a < b & \"c\" \u{7}> d")]));
    assert!(svg.contains("a &lt; b &amp; \"c\" &gt; d</text>"), "{svg}");
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
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
        "validation accuracy 92.00 % after epoch 1",
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
