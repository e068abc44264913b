//! Whether the model-based search finds better settings than a random one:
//! `cargo bench --bench sweep`. Both search a recorded surface, the validation accuracy of a grid
//! of 780 trials; a trial takes that of the nearest learning rate and weight decay on it.
//!
//! The surface was recorded with the first 24,000 training images of MNIST in a folder `data`:
//!
//! ```text
//! inkling sweep --data data --preset one-epoch --sampler grid --pruner none --trials 780 --json \
//!     --set learning-rate=1e-4..1e-1:log:13 --set batch-size=16,32,64,128,256 --set weight-decay=0,0.001,0.01,0.1 --set augmentation=off,gentle,medium
//! ```

use inkling::math::statistics::mean_interval;
use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{
    Outcome, SamplerKind, SettingRange, SweepDefinition, Trial, TrialEpoch, Value, suggest,
};

type Error = Box<dyn std::error::Error>;

const SURFACE: &str = include_str!("surface.csv");
/// What is searched; the learning rate and the weight decay anywhere between the recorded ones.
const SPACE: [&str; 4] = [
    "learning-rate=1e-4..1e-1:log",
    "batch-size=16,32,64,128,256",
    "weight-decay=1e-4..1e-1:log",
    "augmentation=off,gentle,medium",
];
/// Trials after which both are compared.
const BUDGETS: [usize; 4] = [15, 30, 60, 120];
/// The seeds of which each decides by itself, and those that the means are over.
const SEEDS: u64 = 10;
const MANY_SEEDS: u64 = 200;

/// A recorded trial: its settings as a position on the axes, and its validation accuracy, 0 to 1.
struct Point {
    rate: f64,
    batch_size: f64,
    weight_decay: f64,
    augmentation: String,
    accuracy: f64,
}

fn surface() -> Result<Vec<Point>, Error> {
    let mut reader = csv::Reader::from_reader(SURFACE.as_bytes());
    let point = |row: csv::StringRecord| -> Result<Point, Error> {
        let field = |index: usize| row.get(index).ok_or("a field is missing");
        let number = |index: usize| -> Result<f64, Error> { Ok(field(index)?.parse()?) };
        let [rate, batch_size, weight_decay, accuracy] =
            [number(0)?, number(1)?, number(2)?, number(4)?];
        Ok(Point {
            rate,
            batch_size,
            weight_decay,
            augmentation: field(3)?.to_owned(),
            accuracy,
        })
    };
    reader.records().map(|row| point(row?)).collect()
}

/// The accuracy that was recorded nearest to these settings.
fn accuracy(surface: &[Point], config: &RunConfig) -> Option<f64> {
    // No weight decay stands where the next power of ten would.
    let decay = |decay: f64| decay.max(1e-4).log10();
    let distance = |point: &Point| {
        (point.rate.log10() - config.learning_rate.log10()).abs() * 4.0
            + (decay(point.weight_decay) - decay(config.weight_decay)).abs()
    };
    let alike = |point: &&Point| {
        point.batch_size == f64::from(config.batch_size)
            && point.augmentation == config.augmentation.name()
    };
    surface
        .iter()
        .filter(alike)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .map(|point| point.accuracy)
}

/// The best accuracy after each number of trials.
fn search(surface: &[Point], sampler: SamplerKind, seed: u64) -> Result<Vec<f64>, Error> {
    // The sweep's first trial is the preset's, unless that lies outside of the ranges: here, both
    // begin without it.
    let base = RunConfig {
        weight_decay: 0.5,
        ..RunConfig::preset(Preset::OneEpoch)
    };
    let mut definition = SweepDefinition {
        sampler,
        seed,
        trials: Some(1000),
        ..SweepDefinition::of(base)
    };
    for range in SPACE {
        definition.set(SettingRange::parse(range)?)?;
    }
    let (mut trials, mut best): (Vec<Trial>, Vec<f64>) = (Vec::new(), Vec::new());
    for number in 1..=BUDGETS[BUDGETS.len() - 1] as u32 {
        let values: Vec<Value> =
            suggest(&definition, number, &trials).ok_or("nothing is suggested")?;
        let config = definition.config(&values)?;
        let accuracy = accuracy(surface, &config).ok_or("no such settings were recorded")?;
        let epoch = TrialEpoch {
            epoch: 1,
            validation_accuracy: accuracy as f32,
            validation_loss: None,
            seconds: 1.0,
        };
        trials.push(Trial {
            number,
            values,
            config,
            epochs: vec![epoch],
            outcome: Some(Outcome::Completed),
        });
        best.push(best.last().map_or(accuracy, |before| before.max(accuracy)));
    }
    Ok(best)
}

fn main() -> Result<(), Error> {
    let surface = surface()?;
    let highest = surface
        .iter()
        .map(|point| point.accuracy)
        .fold(0.0, f64::max);
    println!(
        "{} recorded trials, the best with {:.2}% validation accuracy",
        surface.len(),
        highest * 100.0
    );
    let all = |sampler| {
        (1..=MANY_SEEDS)
            .map(|seed| search(&surface, sampler, seed))
            .collect::<Result<Vec<_>, _>>()
    };
    let (random, tpe) = (all(SamplerKind::Random)?, all(SamplerKind::Tpe)?);
    println!(
        "Percentage points below that after this many trials, mean and 95% interval over {MANY_SEEDS} seeds:"
    );
    println!(
        "trials   random                  TPE                     seeds 1 to {SEEDS}: random, TPE, TPE better, equal, worse"
    );
    for budget in BUDGETS {
        let below = |runs: &[Vec<f64>]| {
            runs.iter()
                .map(|best| (highest - best[budget - 1]) * 100.0)
                .collect::<Vec<f64>>()
        };
        let (random, tpe) = (below(&random), below(&tpe));
        let shown = |values: &[f64]| {
            mean_interval(values).map_or_else(String::new, |found| {
                format!("{:.3} ({:.3} to {:.3})", found.mean, found.low, found.high)
            })
        };
        let few = SEEDS as usize;
        let mean = |values: &[f64]| values[..few].iter().sum::<f64>() / SEEDS as f64;
        let counts = |holds: fn(f64, f64) -> bool| {
            tpe[..few]
                .iter()
                .zip(&random)
                .filter(|(tpe, random)| holds(**tpe, **random))
                .count()
        };
        println!(
            "{budget:6}   {}   {}   {:.3}, {:.3}, {}, {}, {}",
            shown(&random),
            shown(&tpe),
            mean(&random),
            mean(&tpe),
            counts(|tpe, random| tpe < random),
            counts(|tpe, random| tpe == random),
            counts(|tpe, random| tpe > random)
        );
    }
    Ok(())
}
