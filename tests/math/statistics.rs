//! The figures people read about a measurement.

use inkling::math::statistics::{
    auroc, calibration_error, cell_sentence, class_scores, error_count, wilson_interval,
};
use inkling::records::{Evaluation, RELIABILITY_BINS, ReliabilityBin};
use inkling::run_config::Classes;
use inkling::text::format::{duration, file_size, grouped, percent};

fn evaluation(cells: &[(usize, usize, u32)]) -> Evaluation {
    let mut confusion = vec![vec![0; 10]; 10];
    for &(truth, answer, count) in cells {
        confusion[truth][answer] = count;
    }
    Evaluation {
        images: 0,
        accuracy: 0.0,
        loss: 0.0,
        confusion,
        samples: Vec::new(),
        suspected: 0,
        reliability: Default::default(),
    }
}

#[test]
fn wilson_agrees_with_published_examples() {
    // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I: 81 of
    // 263, 15 of 148, 0 of 20, 1 of 29.
    for (successes, trials, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ] {
        let (got_low, got_high) = wilson_interval(successes, trials);
        assert!(
            (got_low - low).abs() < 5e-5 && (got_high - high).abs() < 5e-5,
            "{successes}/{trials}: {got_low} {got_high}"
        );
    }
}

#[test]
fn wilson_stays_a_share_and_holds_the_estimate() {
    for (successes, trials) in [
        (0, 0),
        (0, 1),
        (1, 1),
        (10_000, 10_000),
        (9_893, 10_000),
        (20, 10),
    ] {
        let (low, high) = wilson_interval(successes, trials);
        assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high) && low <= high);
        if trials > 0 {
            let share = successes.min(trials) as f64 / trials as f64;
            assert!((low..=high).contains(&share));
        }
    }
    assert_eq!(wilson_interval(7, 7).1, 1.0);
}

#[test]
fn classes_count_rows_of_the_confusion_matrix() {
    let evaluation = evaluation(&[(4, 4, 90), (4, 9, 10), (9, 9, 50)]);
    let scores = class_scores(&evaluation);
    assert_eq!((scores[4].images, scores[4].correct), (100, 90));
    assert_eq!(scores[4].accuracy(), Some(0.9));
    assert_eq!(scores[0].accuracy(), None);
    assert_eq!(error_count(&evaluation), 10);
}

#[test]
fn cells_read_as_sentences() {
    assert_eq!(
        cell_sentence(&Classes::Digits, 4, 9, 12),
        "Twelve 4s were classified as 9"
    );
    assert_eq!(
        cell_sentence(&Classes::Digits, 4, 9, 1),
        "One 4 was classified as 9"
    );
    assert_eq!(
        cell_sentence(&Classes::Digits, 4, 9, 0),
        "No 4 was classified as 9"
    );
    assert_eq!(
        cell_sentence(&Classes::Digits, 3, 3, 1003),
        "1,003 3s were classified correctly"
    );
}

#[test]
fn numbers_are_grouped_and_percentages_never_round_up_to_perfection() {
    assert_eq!(
        [grouped(0), grouped(999), grouped(1000), grouped(1_663_370)],
        ["0", "999", "1,000", "1,663,370"]
    );
    assert_eq!(percent(0.9893, 2), "98.93%");
    assert_eq!(percent(1.0, 2), "100.00%");
    assert_eq!(percent(0.999_999, 2), "99.99%");
    assert_eq!(percent(0.999_999, 0), "99%");
}

#[test]
fn sizes_and_spans_carry_their_units() {
    assert_eq!(
        [48_000, 6_653_480, 45_300_000_000].map(file_size),
        ["48 kB", "6.7 MB", "45.3 GB"]
    );
    assert_eq!(
        [4.21, 42.0, 123.4, 3_900.0].map(duration),
        ["4.2 s", "42 s", "2 min 3 s", "1 h 5 min"]
    );
}

#[test]
fn the_calibration_error_weighs_bins_by_their_images() {
    let mut evaluation = evaluation(&[]);
    assert_eq!(calibration_error(&evaluation), None);
    let mut bins = [ReliabilityBin::default(); RELIABILITY_BINS];
    evaluation.reliability = bins;
    assert_eq!(calibration_error(&evaluation), None);
    bins[7] = ReliabilityBin {
        images: 10,
        correct: 4,
        confidence: 0.5,
    };
    bins[14] = ReliabilityBin {
        images: 30,
        correct: 30,
        confidence: 0.98,
    };
    evaluation.reliability = bins;
    let wanted = (10.0 * 0.1 + 30.0 * 0.02) / 40.0;
    assert!((calibration_error(&evaluation).unwrap() - wanted).abs() < 1e-12);
}

#[test]
fn the_auroc_counts_pairs() {
    assert_eq!(auroc(&[2.0, 3.0], &[0.0, 1.0]), 1.0);
    assert_eq!(auroc(&[0.0], &[1.0, 2.0]), 0.0);
    // Of six pairs three are in order, one is a tie.
    assert!((auroc(&[1.0, 3.0, 0.0], &[1.0, 0.5]) - 3.5 / 6.0).abs() < 1e-12);
    assert_eq!(auroc(&[], &[1.0]), 0.5);
}
