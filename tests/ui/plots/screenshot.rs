//! The plots as a PNG file.

use eframe::egui::{Color32, ColorImage, Rect, pos2};
use inkling::ui::plots::screenshot::png;

#[test]
fn the_picture_is_the_part_of_the_screenshot_that_was_asked_for() {
    let mut screenshot = ColorImage::filled([40, 20], Color32::BLACK);
    screenshot[(10, 4)] = Color32::from_rgb(1, 2, 3);
    screenshot[(29, 15)] = Color32::from_rgb(4, 5, 6);
    // Two pixels to a point.
    let bytes = png(&screenshot, Rect::from_min_max(pos2(5.0, 2.0), pos2(15.0, 8.0)), 2.0).unwrap();
    let picture = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (20, 12));
    assert_eq!((picture.get_pixel(0, 0).0, picture.get_pixel(19, 11).0), ([1, 2, 3], [4, 5, 6]));
}

#[test]
fn an_area_off_the_screen_gives_no_picture() {
    let screenshot = ColorImage::filled([40, 20], Color32::BLACK);
    assert!(png(&screenshot, Rect::from_min_max(pos2(50.0, 0.0), pos2(60.0, 10.0)), 1.0).is_none());
}
