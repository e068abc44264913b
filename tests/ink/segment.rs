//! Writing divided into candidates for digits.

use inkling::ink::{Candidate, Ink, Writing, rasterize};

const LINE: [[f32; 2]; 3] = [[0.0, 0.0], [5.0, 50.0], [0.0, 100.0]];

fn at(x: f32, stroke: &[[f32; 2]]) -> Vec<[f32; 2]> {
    stroke
        .iter()
        .map(|point| [point[0] + x, point[1]])
        .collect()
}

fn writing(strokes: Vec<Vec<[f32; 2]>>) -> Writing {
    Writing::of_ink(&Ink { strokes, pen: None })
}

/// The plausibility of the way to read the writing that has a digit in each of these ranges of
/// pieces.
fn plausibility(writing: &Writing, ranges: &[(usize, usize)]) -> Option<f32> {
    let candidates = writing.candidates();
    let of = |&(first, end): &(usize, usize)| {
        candidates
            .iter()
            .find(|candidate: &&Candidate| candidate.pieces == (first..end))
    };
    ranges
        .iter()
        .map(|range| of(range).map(|candidate| candidate.plausibility))
        .sum()
}

#[test]
fn strokes_far_apart_are_never_one_digit() {
    let apart = writing(vec![at(100.0, &LINE), at(0.0, &LINE)]);
    let ranges: Vec<_> = apart
        .candidates()
        .into_iter()
        .map(|candidate| candidate.pieces)
        .collect();
    assert_eq!(ranges, [0..1, 1..2]);
    assert_eq!(
        apart.candidates()[0].bounds.rectangle(),
        [0.0, 0.0, 5.0, 100.0]
    );
}

#[test]
fn a_bar_across_a_stroke_belongs_to_it() {
    let crossed = writing(vec![at(0.0, &LINE), vec![[-20.0, 50.0], [30.0, 52.0]]]);
    let [one, two] = [
        plausibility(&crossed, &[(0, 2)]),
        plausibility(&crossed, &[(0, 1), (1, 2)]),
    ]
    .map(Option::unwrap);
    assert!(one > two + 5.0, "{one} {two}");
    let beside = writing(vec![at(0.0, &LINE), at(20.0, &LINE)]);
    let [one, two] = [
        plausibility(&beside, &[(0, 2)]),
        plausibility(&beside, &[(0, 1), (1, 2)]),
    ]
    .map(Option::unwrap);
    assert!(two > one, "{one} {two}");
}

#[test]
fn a_wide_stroke_may_be_cut_and_is_whole_again_where_it_is_not() {
    let tooth = [
        [0.0, 0.0],
        [10.0, 100.0],
        [20.0, 40.0],
        [30.0, 100.0],
        [40.0, 0.0],
    ];
    let stroke = [at(0.0, &tooth), at(60.0, &tooth)].concat();
    let wide = writing(vec![stroke.clone()]);
    assert!(wide.piece_count() >= 2, "{wide:?}");
    assert_eq!(
        wide.image(0..wide.piece_count()),
        rasterize(&Ink {
            strokes: vec![stroke.clone()],
            pen: None
        })
    );
    // Beside another digit as well.
    let with_one = writing(vec![stroke.clone(), at(200.0, &LINE)]);
    assert_eq!(
        with_one.image(0..with_one.piece_count() - 1),
        rasterize(&Ink {
            strokes: vec![stroke],
            pen: None
        })
    );
    assert_eq!(
        writing(vec![tooth.to_vec()]).piece_count(),
        1,
        "one that is no wider than high is not cut"
    );
}

#[test]
fn every_writing_can_be_read_whatever_is_in_it() {
    let odd = [
        vec![],
        vec![vec![]],
        vec![vec![[f32::NAN, 0.0]], vec![[f32::INFINITY, 1.0]]],
        vec![vec![[3.0, 3.0]]],
        vec![vec![[f32::MAX, 0.0], [f32::MIN, 1.0]], at(0.0, &LINE)],
        vec![
            vec![[0.0, 0.0], [100.0, 0.0]],
            vec![[150.0, 0.0], [250.0, 0.0]],
        ],
        (0..500)
            .map(|index| at(index as f32 * 40.0, &LINE))
            .collect(),
        vec![
            (0..5000)
                .map(|index| [index as f32, (index % 7) as f32 * 1000.0])
                .collect(),
        ],
    ];
    for strokes in odd {
        let writing = writing(strokes);
        let candidates = writing.candidates();
        assert!(
            candidates
                .iter()
                .all(|candidate| !candidate.plausibility.is_nan()),
            "{candidates:?}"
        );
        // Each piece can be a digit by itself, so there is a way through.
        assert!((0..writing.piece_count()).all(|piece| {
            candidates
                .iter()
                .any(|candidate| candidate.pieces == (piece..piece + 1))
        }));
        assert!(
            candidates.len() <= 8 * writing.piece_count() && writing.piece_count() <= 64 * 7,
            "{}",
            candidates.len()
        );
        for Candidate { pieces, .. } in candidates {
            writing.image(pieces);
        }
    }
}
