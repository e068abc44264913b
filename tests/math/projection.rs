//! Principal components, maps turned to match others, nearest points, and layouts of neighbors.

use inkling::math::neighbor_embedding::{InitialLayout, neighbor_embedding};
use inkling::math::projection::{PrincipalComponents, nearest, turn_to_match, turned};
use inkling::math::random::Random;

/// Normal points with these deviations along these axes of `dimensions`.
fn points(count: usize, dimensions: usize, axes: &[(usize, f32)]) -> Vec<f32> {
    let mut random = Random::new(7);
    let mut points = vec![0.0; count * dimensions];
    for point in points.chunks_exact_mut(dimensions) {
        for value in &mut *point {
            *value = 5.0 + 0.1 * random.normal();
        }
        for &(axis, deviation) in axes {
            point[axis] += deviation * random.normal();
        }
    }
    points
}

#[test]
fn components_are_those_of_a_known_ellipse() {
    // Of (2, 1) and (-1, 2) the first has variance 4 along it, the second 1: four points each.
    let along = |a: f32, b: f32| [3.0 + (2.0 * a - b), -1.0 + (a + 2.0 * b)];
    let points = [
        along(2.0, 0.0),
        along(-2.0, 0.0),
        along(0.0, 1.0),
        along(0.0, -1.0),
    ];
    let found = PrincipalComponents::of(&points.concat(), 2, 2);
    let length = 5.0_f32.sqrt();
    let wanted = [
        [2.0 * length, 0.0],
        [-2.0 * length, 0.0],
        [0.0, length],
        [0.0, -length],
    ];
    for (point, wanted) in points.iter().zip(wanted) {
        let coordinates = found.coordinates(point);
        for (value, wanted) in coordinates.iter().zip(wanted) {
            assert!((value - wanted).abs() < 1e-4, "{coordinates:?} {wanted}");
        }
    }
    assert!((found.explained[0] - 0.8).abs() < 1e-5 && (found.explained[1] - 0.2).abs() < 1e-5);
}

#[test]
fn the_first_of_many_dimensions_are_found_as_if_all_were_computed() {
    let (dimensions, axes) = (300, [(17, 4.0), (203, 3.0), (99, 2.0)]);
    let points = points(1_000, dimensions, &axes);
    let found = PrincipalComponents::of(&points, dimensions, 3);
    assert_eq!(found.explained.len(), 3);
    let mut origin = vec![5.0; dimensions];
    for (component, (axis, _)) in axes.iter().enumerate() {
        origin[*axis] += 1.0;
        let moved = found.coordinates(&origin);
        origin[*axis] -= 1.0;
        let still = found.coordinates(&origin);
        let along = moved[component] - still[component];
        assert!((along - 1.0).abs() < 0.01, "{component}: {along}");
    }
    let again = PrincipalComponents::of(&points, dimensions, 3);
    assert_eq!(again.coordinates(&origin), found.coordinates(&origin));
}

#[test]
fn dimensions_that_never_change_do_no_harm() {
    for dimensions in [40, 84, 300] {
        for scale in [1e-20, 1.0, 1e30] {
            let mut random = Random::new(dimensions as u64);
            let values = (0..300 * dimensions).map(|index| match index % dimensions {
                axis if axis % 3 == 0 => scale * random.normal().max(0.0),
                _ => 0.0,
            });
            let points: Vec<f32> = values.collect();
            let found = PrincipalComponents::of(&points, dimensions, 30);
            assert!(found.explained.windows(2).all(|pair| pair[0] >= pair[1]));
            let sum: f32 = found.explained.iter().sum();
            assert!(
                found.explained[0] < 0.5 && sum > 0.2 && sum < 1.001,
                "{sum}"
            );
            let coordinates = found.coordinates(&points[..dimensions]);
            assert!(
                coordinates.iter().all(|value| value.is_finite()),
                "{coordinates:?}"
            );
        }
    }
}

#[test]
fn too_few_points_have_no_components_that_are_not_numbers() {
    for (points, dimensions) in [
        (vec![], 4),
        (vec![1.0; 4], 4),
        (vec![2.0; 40], 4),
        (vec![], 0),
    ] {
        let found = PrincipalComponents::of(&points, dimensions, 2);
        let coordinates = found.coordinates(&vec![1.0; dimensions]);
        assert!(
            coordinates
                .iter()
                .chain(&found.explained)
                .all(|value| value.is_finite())
        );
    }
}

#[test]
fn a_map_is_turned_and_mirrored_back() {
    let mut random = Random::new(3);
    let before: Vec<[f32; 2]> = (0..50)
        .map(|_| [random.normal(), 0.3 * random.normal()])
        .collect();
    let (sin, cos) = 2.1_f32.sin_cos();
    for mirrored in [1.0, -1.0] {
        let after: Vec<[f32; 2]> = before
            .iter()
            .map(|[x, y]| {
                [
                    2.0 * (cos * x - sin * y),
                    2.0 * mirrored * (sin * x + cos * y),
                ]
            })
            .collect();
        let turn = turn_to_match(&after, &before);
        for (after, [x, y]) in after.iter().zip(&before) {
            let [a, b] = turned(turn, *after);
            assert!((a - 2.0 * x).abs() < 1e-4 && (b - 2.0 * y).abs() < 1e-4);
        }
    }
    assert_eq!(turn_to_match(&[], &[]), [[1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn the_nearest_come_first() {
    let points = [0.0, 0.0, 3.0, 4.0, 1.0, 0.0, 0.0, 2.0];
    assert_eq!(
        nearest(&points, &[0.0, 0.0], 3),
        [(0, 0.0), (2, 1.0), (3, 2.0)]
    );
    assert_eq!(nearest(&points, &[0.0, 0.0], 9).len(), 4);
    assert!(nearest(&[], &[0.0, 0.0], 9).is_empty());
}

#[test]
fn neighbors_stay_neighbors() {
    let (groups, of_group, dimensions) = (4, 40, 12);
    let mut random = Random::new(5);
    let points: Vec<f32> = (0..groups * of_group)
        .flat_map(|point| {
            let group = point / of_group;
            let value = |axis| if axis == group { 6.0 } else { 0.0 };
            let offsets = [(); 12].map(|()| 0.5 * random.normal());
            (0..dimensions)
                .map(value)
                .zip(offsets)
                .map(|(value, offset)| value + offset)
                .collect::<Vec<f32>>()
        })
        .collect();
    let components = PrincipalComponents::of(&points, dimensions, 2);
    let plane: Vec<[f32; 2]> = points
        .chunks_exact(dimensions)
        .map(|point| {
            let coordinates = components.coordinates(point);
            [coordinates[0], coordinates[1]]
        })
        .collect();
    let mut shares = Vec::new();
    let layout = neighbor_embedding(
        &points,
        dimensions,
        InitialLayout::Plane(plane.clone()),
        |layout, share| {
            assert_eq!(layout.len(), plane.len());
            shares.push(share);
        },
    )
    .unwrap();
    assert!(shares.len() > 10 && shares.windows(2).all(|pair| pair[0] < pair[1]));
    let of_same_group = |layout: &[[f32; 2]]| {
        let flat = layout.concat();
        let near = |(index, at): (usize, &[f32; 2])| {
            let (other, _) = nearest(&flat, at, 2)[1];
            usize::from(other / of_group == index / of_group)
        };
        layout.iter().enumerate().map(near).sum::<usize>()
    };
    let kept = of_same_group(&layout);
    assert!(kept >= 157, "{kept} of 160");
    let further = neighbor_embedding(
        &points,
        dimensions,
        InitialLayout::Layout(layout.clone()),
        |_, _| {},
    )
    .unwrap();
    assert!(of_same_group(&further) >= 157);
    let start = InitialLayout::Plane(plane[..3].to_vec());
    assert_eq!(
        neighbor_embedding(&points[..3 * dimensions], dimensions, start, |_, _| {}),
        None
    );
}
