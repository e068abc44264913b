//! Where a search usually begins: for each setting a range around its value in the run panel, or a
//! few values.

use super::form::SettingRow;
use crate::run_config::{CnnLayer, CnnLayers, RunConfig, Widths};
use crate::sweep::{Setting, Value};
use crate::text::format::plain;

/// What varies at first: what matters most for most networks.
pub const USUAL: [Setting; 4] = [
    Setting::LearningRate,
    Setting::BatchSize,
    Setting::WeightDecay,
    Setting::Augmentation,
];
/// How far a logarithmic range reaches to either side.
const REACH: f64 = 10.0;
/// The lowest weight decay of a range around none.
const MIN_DECAY: f64 = 1e-5;

pub fn row(setting: Setting, config: &RunConfig) -> SettingRow {
    let number = match setting.value(config) {
        Value::Number(number) => number,
        Value::Name(_) => 0.0,
    };
    let around = |number: f64| range(setting, number / REACH, number * REACH, true);
    let halves = |least: f64| {
        let values = [number / 2.0, number, number * 2.0].map(|value| value.round().max(least));
        list(setting, &values.map(plain))
    };
    match setting {
        Setting::LearningRate => around(number),
        Setting::WeightDecay if number > 0.0 => around(number),
        Setting::WeightDecay => range(setting, MIN_DECAY, MIN_DECAY * 1e4, true),
        Setting::Momentum => range(setting, 0.8, 0.99, false),
        Setting::LabelSmoothing => range(setting, 0.0, 0.2, false),
        Setting::BatchSize | Setting::Epochs => halves(1.0),
        Setting::Accumulation => list(setting, &["1", "2", "4"]),
        Setting::ClipNorm => list(setting, &["off", "0.5", "1", "2"]),
        Setting::WeightAveraging => list(setting, &["off", "0.99", "0.999"]),
        Setting::EarlyStopping => list(setting, &["off", "2", "5"]),
        Setting::Seed => list(setting, &["1", "2", "3"]),
        // As wide as they are, half as wide, and twice.
        Setting::Widths => {
            let own = config.network();
            let times = |factor: f32| {
                let widths: Vec<u16> = own
                    .widths()
                    .iter()
                    .map(|&width| (f32::from(width) * factor).round() as u16)
                    .collect();
                Widths::new(&widths).map(|widths| widths.to_string())
            };
            let values: Vec<String> = [0.5, 1.0, 2.0].into_iter().filter_map(times).collect();
            list(setting, &values)
        }
        // Without a further dense layer and with one.
        Setting::Layers => {
            let own = config.network().cnn_layers();
            let deeper = CnnLayers::new(&[own.as_slice(), &[CnnLayer::Dense(128)]].concat());
            list(
                setting,
                &[Ok(own), deeper]
                    .into_iter()
                    .flatten()
                    .map(|layers| layers.to_string())
                    .collect::<Vec<_>>(),
            )
        }
        // A large network beside a small one would take most of the time.
        Setting::Model | Setting::Precision => {
            let own = setting.value(config).to_string();
            let other = setting
                .choices()
                .into_iter()
                .map(|(name, _)| name)
                .find(|name| *name != own)
                .unwrap_or_default();
            list(setting, &[own.as_str(), other])
        }
        Setting::Activation
        | Setting::Optimizer
        | Setting::Schedule
        | Setting::Nesterov
        | Setting::Augmentation => list(
            setting,
            &setting
                .choices()
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>(),
        ),
    }
}

fn range(setting: Setting, low: f64, high: f64, log: bool) -> SettingRow {
    // Values are put in place of the range where a grid needs them.
    let values = if log {
        vec![low, (low * high).sqrt(), high]
    } else {
        vec![low, low.midpoint(high), high]
    };
    let texts: Vec<String> = values.into_iter().map(short).collect();
    SettingRow {
        listed: false,
        low: short(low),
        high: short(high),
        log,
        ..list(setting, &texts)
    }
}

fn list<T: AsRef<str>>(setting: Setting, values: &[T]) -> SettingRow {
    let mut distinct: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    distinct.dedup();
    let ends = |text: Option<&&str>| text.map(|text| (*text).to_owned()).unwrap_or_default();
    SettingRow {
        setting,
        listed: true,
        low: if setting.kind().is_number() {
            ends(distinct.first())
        } else {
            String::new()
        },
        high: if setting.kind().is_number() {
            ends(distinct.last())
        } else {
            String::new()
        },
        log: false,
        values: distinct.join(", "),
        edited: false,
    }
}

/// Two digits are enough for the end of a range.
fn short(number: f64) -> String {
    plain(format!("{number:.1e}").parse().unwrap_or(number))
}
