//! Where a search usually begins: for each setting a range around its value in the run panel, or a
//! few values.

use super::form::SettingRow;
use crate::run_config::{RunConfig, Setting, Trials};
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

pub fn row(setting: Setting, config: &RunConfig) -> SettingRow {
    let number = setting.number(config).unwrap_or_default();
    let around = |number: f64| range(setting, number / REACH, number * REACH, true);
    match setting.row().trials {
        Trials::Same => list::<&str>(setting, &[]),
        Trials::Around(_) if number > 0.0 => around(number),
        Trials::Around(least) => range(setting, least, least * 1e4, true),
        Trials::Between(low, high) => range(setting, low, high, false),
        Trials::Halves => {
            let values = [number / 2.0, number, number * 2.0].map(|value| value.round().max(1.0));
            list(setting, &values.map(plain))
        }
        Trials::List(values) => list(setting, values),
        Trials::Choices => {
            let names: Vec<&str> = setting.choices().iter().map(|(name, _)| *name).collect();
            list(setting, &names)
        }
        Trials::OneOther => {
            let own = setting.text(config);
            let mut names = setting.choices().into_iter().map(|(name, _)| name);
            let other = names.find(|name| *name != own);
            list(setting, &[own.as_str(), other.unwrap_or_default()])
        }
        Trials::Of(values) => list(setting, &values(config)),
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
    let is_number = setting.row().kind.is_number();
    SettingRow {
        setting,
        listed: true,
        low: if is_number {
            ends(distinct.first())
        } else {
            String::new()
        },
        high: if is_number {
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
