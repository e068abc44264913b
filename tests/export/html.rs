//! The web page. `.ci/exports` opens it in browsers and compares what it recognizes with what
//! Inkling does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use half::f16;
use inkling::export::{ExportedModel, export};
use inkling::infer::starter_file;
use inkling::records::{Calibration, ExportSpec};
use inkling::run_config::{Activation, Classes, ExportFormat, ModelKind};
use serde_json::Value;

use super::untrained_model;

fn starter() -> ExportedModel {
    ExportedModel {
        file: starter_file().unwrap(),
        run: None,
        quantized: None,
    }
}

fn page(exported: &ExportedModel) -> String {
    let spec = ExportSpec::new(ExportFormat::Html);
    let export = export(exported, &spec, "page.html").unwrap();
    let [file] = export.files() else {
        panic!("more than the page");
    };
    String::from_utf8(file.bytes.clone()).unwrap()
}

/// The text of the page's element with this id.
fn element<'p>(page: &'p str, id: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">\n")).unwrap();
    rest.split_once("\n</script>").unwrap().0
}

fn model(page: &str) -> Value {
    serde_json::from_str(element(page, "model")).unwrap()
}

#[test]
fn a_page_is_small_and_asks_for_nothing_outside_of_it() {
    for (exported, limit) in [
        (starter(), 250_000),
        (
            untrained_model(ModelKind::Speedrun, Activation::Relu),
            650_000,
        ),
    ] {
        let page = page(&exported);
        assert!(page.len() <= limit, "{} bytes", page.len());
        // The one that forbids it all.
        let page = page.replacen("http-equiv=\"Content-Security-Policy\"", "", 1);
        for outside in [
            "http:",
            "https:",
            "\"//",
            "src=",
            "@import",
            "url(",
            "import(",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "sendBeacon",
            "innerHTML",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("href=").count(), 1);
        assert!(page.contains("default-src 'none'") && page.contains("href=\"data:,\""));
    }
}

#[test]
fn the_page_computes_every_layer_and_activation() {
    fn types(layers: &Value, found: &mut Vec<(String, Option<String>)>) {
        for layer in layers.as_array().unwrap() {
            let text = |key: &str| layer[key].as_str().map(str::to_owned);
            found.push((text("type").unwrap(), text("activation")));
            ["body", "shortcut"]
                .into_iter()
                .filter(|branch| layer.get(branch).is_some())
                .for_each(|branch| types(&layer[branch], found));
        }
    }
    for &kind in ModelKind::ALL {
        for &activation in Activation::ALL {
            let page = page(&untrained_model(kind, activation));
            let mut found = Vec::new();
            types(&model(&page)["layers"], &mut found);
            for (layer, activation) in found {
                assert!(page.contains(&format!("\n  {layer}(x")), "{kind}: {layer}");
                if let Some(activation) = activation {
                    assert!(page.contains(&format!("\n  \"{activation}\": ")), "{kind}");
                }
            }
        }
    }
}

#[test]
fn the_weights_are_those_of_the_model_as_16_bit_floats() {
    for exported in [
        starter(),
        untrained_model(ModelKind::Attention, Activation::Gelu),
    ] {
        let page = page(&exported);
        let base64: String = element(&page, "weights").lines().collect();
        let bytes = STANDARD.decode(base64).unwrap();
        let stored: Vec<f16> = bytes
            .chunks_exact(2)
            .map(|pair| f16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let listed = model(&page)["parameters"].as_array().unwrap().clone();
        let net = &exported.file.net;
        let mut wanted: Vec<(String, Vec<f32>)> = net
            .parameters()
            .iter()
            .map(|parameter| (parameter.name().to_owned(), parameter.values().unwrap()))
            .collect();
        if let Some(detector) = net.digit_detector() {
            wanted.extend(
                detector
                    .tensors()
                    .map(|(name, _, values)| (name.to_owned(), values.to_vec())),
            );
        }
        assert_eq!(listed.len(), wanted.len());
        for (entry, (name, values)) in listed.iter().zip(wanted) {
            assert_eq!(entry["name"], name.as_str());
            let shape = entry["shape"].as_array().unwrap();
            let lengths: u64 = shape
                .iter()
                .map(|length| length.as_u64().unwrap())
                .product();
            let from = entry["offset"].as_u64().unwrap() as usize;
            let rounded: Vec<f16> = values.into_iter().map(f16::from_f32).collect();
            assert_eq!(lengths as usize, rounded.len(), "{name}");
            assert_eq!(&stored[from..from + rounded.len()], rounded, "{name}");
        }
    }
}

#[test]
fn what_was_fitted_for_the_model_is_in_the_page() {
    let mut exported = starter();
    let card = &exported.file.card;
    let about = model(&page(&exported));
    for (key, wanted) in [
        ("mean", card.normalization.mean),
        ("std", card.normalization.std),
        ("temperature", card.calibration.temperature),
        ("digit_threshold", card.calibration.digit_threshold),
    ] {
        assert_eq!(about[key].as_f64().unwrap() as f32, wanted, "{key}");
    }
    assert_eq!(
        (&about["one"], &about["none"]),
        (&"a digit".into(), &"not a digit".into())
    );
    // Dropout is for training alone.
    let convnet = untrained_model(ModelKind::ConvNet, Activation::Relu);
    assert!(!element(&page(&convnet), "model").contains("dropout"));
    exported.file.card.calibration = Calibration::NONE;
    assert_eq!(model(&page(&exported))["digit_threshold"], Value::Null);
}

#[test]
fn names_are_not_searched_for_places_to_fill() {
    let mut exported = starter();
    let names: Vec<String> = (0..10)
        .map(|class| format!("{{{{weights}}}} {class}"))
        .collect();
    exported.file.card.labels = Classes::of_names(&names).unwrap();
    exported.file.card.data = "/tmp/<b>{{model}}".parse().unwrap();
    let page = page(&exported);
    assert!(page.len() < 250_000);
    assert_eq!(model(&page)["classes"][3], "{{weights}} 3");
    assert!(page.contains("<dd>&lt;b&gt;{{model}}</dd>"));
}
