//! What is recommended on a machine.

use inkling::data::Found;
use inkling::run_config::{DataSource, DataSpec, NamedSet};

use super::wait_for;
use crate::fake_engine::app;

#[test]
fn mnist_is_mixed_with_built_in_digits_where_it_is_found() {
    let (mut app, _engine) = app();
    app.start_discovery();
    wait_for(&mut app, |app| {
        app.ctx.hardware.is_some() && app.train.found.is_some()
    });
    assert_eq!(app.recommended().unwrap().0.data, DataSpec::builtin());
    let folder = "/data/mnist".into();
    let mnist = Found {
        set: NamedSet::Mnist,
        folder,
        train_images: 60_000,
        test_images: 9_000,
        original: Some(true),
    };
    app.train.found = Some(vec![mnist.clone()]);
    let (config, _) = app.recommended().unwrap();
    assert_eq!(
        config.data.sources(),
        [app.source_of(&mnist), DataSource::Builtin]
    );
    app.ctx.config = config;
    // 60,000 and half as many built-in digits, of which 7,500 are for validation. What is only
    // recognised takes a third of the time.
    let images = 82_500.0 * f64::from(app.ctx.config.epochs);
    let recognised = 7_500.0 * f64::from(app.ctx.config.epochs) + 9_000.0;
    assert_eq!(
        app.total_time(&app.ctx.config, (images + recognised / 3.0) / 10.0)
            .as_deref(),
        Some("10 s")
    );
}
