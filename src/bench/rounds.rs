//! Owns how repeats are taken: every side in its turn, round after round, so that what slows the machine down for a moment
//! slows all sides. Must not know what the sides do.

use std::time::{Duration, Instant};

use super::clock::{Clock, Ended};

/// One of the things compared: does its work once and gives the seconds that took.
pub(super) type Side<'a> = Box<dyn FnMut() -> Result<f64, Ended> + 'a>;

/// Rounds taken even where the time is over before, unless it is over several times.
const LEAST: usize = 3;
const PATIENCE: u32 = 4;

/// The seconds every side took, a list each: one round to warm up, which is not counted, then as many as fit into `time`.
pub(super) fn take(clock: &mut Clock<'_>, time: Duration, sides: &mut [Side<'_>]) -> Result<Vec<Vec<f64>>, Ended> {
    let began = Instant::now();
    let mut taken = vec![Vec::new(); sides.len()];
    for round in 0.. {
        let (enough, late) = (round > LEAST && began.elapsed() >= time, round > 1 && began.elapsed() >= time * PATIENCE);
        if enough || late {
            break;
        }
        for (side, seconds) in sides.iter_mut().zip(&mut taken) {
            let took = side()?;
            if round > 0 {
                seconds.push(took);
            }
            clock.attend()?;
        }
    }
    Ok(taken)
}

/// Seconds that `work` takes.
pub(super) fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}
