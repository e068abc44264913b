//! The statistics of comparisons and of repeated runs, against `SciPy` 1.17 and statsmodels 0.15.

use std::f64::consts::FRAC_1_SQRT_2;

use inkling::math::statistics::{
    compare_with, holm, mcnemar, mean_interval, paired_interval, welch_interval,
};
use inkling::records::PairedCounts;

const fn counts([both, first_only, second_only, neither]: [u64; 4]) -> PairedCounts {
    PairedCounts {
        both,
        first_only,
        second_only,
        neither,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// `statsmodels.stats.contingency_tables.mcnemar([[both, first], [second, neither]], exact=True).pvalue`;
/// the same as `scipy.stats.binomtest(min(first, second), first + second, 0.5).pvalue`.
#[test]
fn mcnemars_exact_test_agrees_with_scipy() {
    for (cells, p) in [
        ([36, 12, 2, 0], 0.012_939_453_125),
        ([2, 12, 0, 36], 0.000_488_281_25),
        ([43, 7, 0, 0], 0.015_625),
        ([9_850, 60, 39, 51], 0.043_875_293_587_015_265),
        ([9_880, 31, 10, 79], 0.001_450_491_014_111_321_4),
        ([0, 4_000, 3_800, 0], 0.024_238_383_243_788_05),
        ([3, 1, 6, 0], 0.125),
        ([50, 0, 0, 0], 1.0),
        ([10, 4, 4, 10], 1.0),
        ([0, 40, 5_000, 0], 0.0),
    ] {
        let got = mcnemar(counts(cells));
        assert!(close(got, p), "{cells:?}: {got} instead of {p}");
        let [both, first, second, neither] = cells;
        assert_eq!(
            mcnemar(counts([both, second, first, neither])),
            got,
            "it has no direction"
        );
    }
}

/// The formula in Python with
/// `statsmodels.stats.proportion.proportion_confint(k, n, method="wilson")` for both accuracies;
/// the first is also in table II of Newcombe (1998): 0.0569 to 0.3404.
#[test]
fn the_interval_of_a_paired_difference_is_newcombes() {
    for (cells, low, high) in [
        (
            [36, 12, 2, 0],
            0.056_929_584_003_238_75,
            0.340_427_602_974_940_8,
        ),
        (
            [2, 12, 0, 36],
            0.114_407_980_010_463_34,
            0.373_495_559_906_225_85,
        ),
        (
            [20, 12, 2, 16],
            0.056_156_424_841_748_21,
            0.329_206_995_400_140_53,
        ),
        (
            [43, 7, 0, 0],
            0.039_702_667_834_774_746,
            0.261_861_937_105_855_5,
        ),
        (
            [50, 0, 0, 0],
            -0.071_347_599_133_358_75,
            0.071_347_599_133_358_75,
        ),
        (
            [9_850, 60, 39, 51],
            0.000_133_390_343_071_977_67,
            0.004_122_817_653_994_283,
        ),
        (
            [9_880, 31, 10, 79],
            0.000_828_549_665_512_604_7,
            0.003_474_133_036_717_393_4,
        ),
        ([0, 5, 0, 0], 0.385_549_005_690_343_56, 1.0),
        (
            [3, 1, 6, 0],
            -0.775_733_682_533_431_3,
            -0.003_595_460_593_901_534,
        ),
        ([0, 0, 0, 0], -1.0, 1.0),
    ] {
        let got = paired_interval(counts(cells));
        assert!(
            close(got.0, low) && close(got.1, high),
            "{cells:?}: {got:?} instead of {low} to {high}"
        );
        let [both, first, second, neither] = cells;
        let (mirrored_low, mirrored_high) = paired_interval(counts([both, second, first, neither]));
        assert!(
            close(mirrored_low, -high) && close(mirrored_high, -low),
            "the other way round it is the same with the other sign"
        );
    }
}

/// `statsmodels.stats.multitest.multipletests(p, method="holm")[1]`.
#[test]
fn p_values_of_several_tests_are_adjusted_as_in_statsmodels() {
    for (p, adjusted) in [
        (vec![0.01, 0.04, 0.03, 0.005], vec![0.03, 0.06, 0.06, 0.02]),
        (vec![0.2, 0.001, 0.9], vec![0.4, 0.003, 0.9]),
        (vec![0.05, 0.05], vec![0.1, 0.1]),
        (vec![0.7], vec![0.7]),
        (vec![], vec![]),
    ] {
        let got = holm(&p);
        assert!(
            got.len() == adjusted.len()
                && got
                    .iter()
                    .zip(&adjusted)
                    .all(|(&got, &wanted)| close(got, wanted)),
            "{p:?}: {got:?}"
        );
    }
}

/// `numpy.mean(x)`, `numpy.std(x, ddof=1)`,
/// `scipy.stats.t.interval(0.95, len(x) - 1, loc=mean, scale=scipy.stats.sem(x))`.
#[test]
fn the_interval_of_a_mean_agrees_with_scipy() {
    for (values, mean, deviation, low, high) in [
        (
            vec![0.9912, 0.9921, 0.9907],
            0.991_333_333_333_333_3,
            0.000_709_459_888_459_740_6,
            0.989_570_937_269_436_2,
            0.993_095_729_397_230_3,
        ),
        (
            vec![1.0, 2.0],
            1.5,
            FRAC_1_SQRT_2,
            -4.853_102_368_087_347,
            7.853_102_368_087_347,
        ),
        (
            vec![98.1, 98.3, 97.9, 98.4, 98.2],
            98.18,
            0.192_353_840_616_713_23,
            97.941_161_161_189_98,
            98.418_838_838_809_99,
        ),
        (vec![5.0, 5.0, 5.0], 5.0, 0.0, 5.0, 5.0),
    ] {
        let got = mean_interval(&values).unwrap();
        let figures = [
            (got.mean, mean),
            (got.deviation, deviation),
            (got.low, low),
            (got.high, high),
        ];
        assert!(
            figures.into_iter().all(|(got, wanted)| close(got, wanted))
                && got.count == values.len(),
            "{values:?}: {got:?}"
        );
    }
    for none in [&[][..], &[0.5], &[0.5, f64::NAN], &[0.5, f64::INFINITY]] {
        assert_eq!(mean_interval(none), None, "{none:?}");
    }
}

/// `scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)`.
#[test]
fn welchs_interval_agrees_with_scipy() {
    let interval = |a: &[f64], b: &[f64]| {
        welch_interval(&mean_interval(a).unwrap(), &mean_interval(b).unwrap())
    };
    for (a, b, low, high) in [
        (
            &[0.9912, 0.9921, 0.9907][..],
            &[0.9931, 0.9927, 0.9935, 0.9930][..],
            -0.003_255_793_745_934_339_4,
            -0.000_227_539_587_399_165_7,
        ),
        (
            &[98.1, 98.3, 97.9, 98.4, 98.2],
            &[98.0, 97.7],
            -0.543_341_876_321_822_2,
            1.203_341_876_321_790_2,
        ),
    ] {
        let got = interval(a, b);
        assert!(close(got.0, low) && close(got.1, high), "{got:?}");
    }
    assert_eq!(interval(&[3.0, 3.0], &[1.0, 1.0]), (2.0, 2.0));
}

/// The interval of n values with a mean of 0 and a deviation of √n is the 0.975 quantile:
/// `scipy.stats.t.ppf(0.975, n - 1)`.
#[test]
fn quantiles_of_students_distribution_agree_with_scipy() {
    for (freedom, quantile) in [
        (1, 12.706_204_736_174_694),
        (3, 3.182_446_305_283_707_8),
        (9, 2.262_157_162_798_205),
        (29, 2.045_229_642_132_703),
        (99, 1.984_216_951_586_417_4),
        (999, 1.962_341_461_133_449_3),
    ] {
        let n = freedom + 1;
        let size = f64::from(freedom).sqrt();
        let values: Vec<f64> = (0..n)
            .map(|index| if index % 2 == 0 { size } else { -size })
            .collect();
        let high = mean_interval(&values).unwrap().high;
        assert!(
            (high - quantile).abs() < 1e-8,
            "{freedom}: {high} instead of {quantile}"
        );
    }
}

#[test]
fn differences_are_said_in_words() {
    let sentence = |cells| compare_with(&[counts(cells)])[0].sentence();
    assert_eq!(
        sentence([9_880, 31, 10, 79]),
        "better by 0.21 points; 95% interval 0.08 to 0.35"
    );
    assert_eq!(
        sentence([9_880, 10, 31, 79]),
        "worse by 0.21 points; 95% interval 0.08 to 0.35"
    );
    assert_eq!(
        sentence([9_880, 12, 10, 98]),
        "no significant difference: 0.02 points better; 95% interval -0.08 to 0.12"
    );
    assert_eq!(
        sentence([9_880, 10, 12, 98]),
        "no significant difference: 0.02 points worse; 95% interval -0.08 to 0.12"
    );
    assert_eq!(
        sentence([9_900, 10, 10, 80]),
        "no significant difference: the same accuracy; 95% interval -0.10 to 0.10 points"
    );
    // An interval without 0 is not enough where the exact test finds nothing.
    assert!(sentence([0, 5, 0, 0]).starts_with("no significant difference"));
}

#[test]
fn a_difference_among_many_has_to_be_clearer() {
    let slight = counts([9_850, 60, 39, 51]);
    assert!(compare_with(&[slight])[0].is_significant());
    let among_many = compare_with(&[
        slight,
        counts([9_900, 10, 10, 80]),
        counts([9_900, 12, 10, 78]),
    ]);
    assert!(
        !among_many[0].is_significant() && close(among_many[0].p, 3.0 * 0.043_875_293_587_015_265)
    );
    assert_eq!(among_many[0].interval, paired_interval(slight));
}
