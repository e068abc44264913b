//! Which of several ways to compute a product is used, and how that is remembered.

use inkling::nn::autotuning::{Autotuned, fastest, newly_found, recall};

const SECONDS: [Option<f32>; 4] = [Some(1.0), None, Some(0.5), Some(0.7)];

#[test]
fn the_fastest_way_is_found_once_and_remembered() {
    let mut timed = 0;
    let mut of = |gpu: &str, product: &str, ways: usize| {
        fastest(gpu, product, ways, |way| {
            timed += 1;
            SECONDS[way]
        })
    };
    assert_eq!(of("one GPU", "2 x 2", 4), 2);
    assert_eq!(of("one GPU", "2 x 2", 4), 2);
    assert_eq!(of("another GPU", "2 x 2", 4), 2);
    // What was found earlier is of no use if there are fewer ways now.
    assert_eq!(of("one GPU", "2 x 2", 2), 0);
    assert_eq!(timed, 4 + 4 + 2);

    // Nothing has to be better than the usual way, and nothing else may be possible.
    let among = |seconds: [Option<f32>; 2]| {
        fastest("one GPU", &format!("{seconds:?}"), 2, |way| seconds[way])
    };
    assert_eq!(among([Some(1.0), Some(0.99)]), 0);
    assert_eq!(among([Some(1.0), Some(0.9)]), 1);
    assert_eq!(among([None, Some(9.0)]), 1);
    assert_eq!(among([None, None]), 0);

    let found = newly_found().unwrap();
    assert_eq!(
        (
            found.get("another GPU", "2 x 2"),
            found.get("one GPU", "2 x 2"),
            found.get("one GPU", "3 x 3")
        ),
        (Some(2), Some(0), None)
    );
    assert!(newly_found().is_none(), "nothing new");
    let saved = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Autotuned>(&saved).unwrap(), found);

    recall(
        serde_json::from_str(r#"{"a third GPU": {"2 x 2": 3}, "another GPU": {"2 x 2": 1}}"#)
            .unwrap(),
    );
    assert_eq!(
        fastest("a third GPU", "2 x 2", 4, |_| panic!("it is known")),
        3
    );
    assert_eq!(
        fastest("another GPU", "2 x 2", 4, |_| panic!("it is known")),
        2,
        "what was found here stays"
    );
}
