//! Drawings that are kept: nothing is lost, whoever changes them.

use std::path::Path;
use std::thread;

use inkling::data::MyDigits;
use inkling::data::my_digits::{Edit, FILE, KeptDrawing};
use inkling::ink::Ink;

fn drawing(at: f32, digit: u8) -> KeptDrawing {
    let ink = Ink {
        strokes: vec![vec![[at, 0.0], [at + 3.333_33, 40.0]]],
        pen: Some(4.0),
    };
    KeptDrawing::new(&ink, digit).unwrap()
}

fn kept_in(folder: &Path) -> MyDigits {
    MyDigits::in_folders(&[folder.to_owned()])
}

fn added(drawings: Vec<KeptDrawing>) -> Edit {
    Edit {
        add: drawings,
        ..Edit::default()
    }
}

#[test]
fn drawings_are_added_relabeled_and_removed_and_each_change_is_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let mine = kept_in(&home.path().join("data"));
    assert!(mine.read().unwrap().drawings.is_empty());
    let three = vec![drawing(1.0, 1), drawing(2.0, 2), drawing(3.0, 3)];
    assert_eq!(mine.change(&added(three.clone())).unwrap().drawings, three);
    let relabel = Edit {
        remove: vec![three[1].clone()],
        add: vec![three[1].relabeled(7).unwrap()],
    };
    let relabeled = mine.change(&relabel).unwrap().drawings;
    assert_eq!(
        relabeled
            .iter()
            .map(|drawing| drawing.digit)
            .collect::<Vec<_>>(),
        [1, 7, 3]
    );
    assert_eq!(mine.change(&relabel.inverse()).unwrap().drawings, three);
    let remove = Edit {
        remove: three[..2].to_vec(),
        ..Edit::default()
    };
    assert_eq!(mine.change(&remove).unwrap().drawings.len(), 1);
    let back = mine.change(&remove.inverse()).unwrap().drawings;
    assert!(back.len() == 3 && three.iter().all(|drawing| back.contains(drawing)));
    assert_eq!(mine.read().unwrap().drawings, back);
}

#[test]
fn lines_that_cannot_be_read_stay() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(FILE);
    let damaged = b"{\"strokes\":[[[1,2],\n\xff\xfe\n{\"strokes\":[[[1,2]]],\"label\":\"A\"}\n";
    std::fs::write(&file, damaged).unwrap();
    let mine = kept_in(home.path());
    let kept = mine.change(&added(vec![drawing(1.0, 5)])).unwrap();
    assert_eq!((kept.drawings.len(), kept.unreadable), (1, 3));
    let kept = mine
        .change(&Edit {
            remove: kept.drawings,
            ..Edit::default()
        })
        .unwrap();
    assert_eq!((kept.drawings.len(), kept.unreadable), (0, 3));
    assert_eq!(std::fs::read(&file).unwrap(), damaged);
}

#[test]
fn two_windows_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for window in 0..4_u8 {
            let mine = kept_in(home.path());
            scope.spawn(move || {
                for place in 0..10_u8 {
                    mine.change(&added(vec![drawing(
                        f32::from(window) * 100.0 + f32::from(place),
                        window,
                    )]))
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(kept_in(home.path()).read().unwrap().drawings.len(), 40);
}

#[test]
fn nothing_is_kept_of_an_empty_canvas() {
    assert_eq!(KeptDrawing::new(&Ink::default(), 3), None);
    let nothing = Ink {
        strokes: vec![vec![[f32::NAN, 1.0]]],
        pen: None,
    };
    assert_eq!(KeptDrawing::new(&nothing, 3), None);
    assert_eq!(KeptDrawing::new(&drawing(1.0, 1).ink, 12), None);
}
