use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use crate::export::untrusted::Untrusted;
use crate::ink::SIDE;
use crate::records::{Evaluation, Mistake};
use crate::run_config::Classes;
use crate::text::format::percent;

const SHOWN: usize = 20;

/// The most confident errors as embedded images; empty if there are none.
pub fn html(test: &Evaluation, classes: &Classes) -> String {
    let figures: String = test
        .mistakes
        .iter()
        .take(SHOWN)
        .map(|mistake| figure(mistake, classes))
        .collect();
    if figures.is_empty() {
        return String::new();
    }
    format!(
        "<h2>Most confident errors</h2>\n<p>Misclassified test images with the highest probability for the wrong {}.</p>\n<div class=mistakes>\n{figures}</div>\n",
        classes.noun()
    )
}

fn figure(mistake: &Mistake, classes: &Classes) -> String {
    let Mistake {
        image,
        label,
        answer,
        confidence,
        ..
    } = mistake;
    let [label, answer] = [label, answer].map(|class| Untrusted::from(classes.name(*class)).html());
    // Inverted: dark ink on light paper.
    let pixels: Vec<u8> = image.pixels().iter().map(|&pixel| 255 - pixel).collect();
    let mut png = Vec::new();
    let written = PngEncoder::new(&mut png).write_image(
        &pixels,
        SIDE as u32,
        SIDE as u32,
        ExtendedColorType::L8,
    );
    if written.is_err() {
        return String::new();
    }
    let confidence = percent(f64::from(*confidence), 1);
    format!(
        "<figure><img alt=\"{label}\" width=56 height=56 src=\"data:image/png;base64,{}\"><figcaption>{label}, predicted {answer}<br>{confidence}</figcaption></figure>\n",
        STANDARD.encode(&png)
    )
}
