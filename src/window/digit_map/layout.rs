//! The layout of neighbors, which is computed on other threads and shown as it takes shape.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::{Layout, MapOfDigits, ShownMap};
use crate::math::neighbor_embedding::{InitialLayout, neighbor_embedding};
use crate::system::threads;
use crate::window::Ctx;

/// The threads that compute it: training has the others.
const THREADS: usize = 2;
/// The layout of a model that is being trained rests for so many times what it took.
const REST: u32 = 5;

#[derive(Debug, Default)]
pub struct NeighborLayout {
    /// The map that it is of, or is to be of.
    map: Option<u64>,
    pub positions: Vec<[f32; 2]>,
    /// How far it is, from 0 to 1, while it is computed.
    pub progress: Option<f32>,
    /// When it began.
    began: Option<Instant>,
    /// When the next may begin.
    next: Option<Instant>,
}

impl NeighborLayout {
    /// Whether it has these points.
    pub fn is_of(&self, shown: &ShownMap) -> bool {
        !self.positions.is_empty() && self.positions.len() == shown.plane.len()
    }

    fn moved(&mut self, map: u64, positions: Vec<[f32; 2]>, progress: Option<f32>) {
        if self.map != Some(map) {
            return;
        }
        self.positions = positions;
        self.progress = progress;
        if progress.is_none() {
            let took = self
                .began
                .take()
                .map_or(Duration::ZERO, |began| began.elapsed());
            self.next = Some(Instant::now() + took * REST);
        }
    }
}

impl MapOfDigits {
    /// Begins to lay out the map that is shown, if that is wanted and not done.
    pub(super) fn lay_out(&mut self, ctx: &Ctx) {
        let Some(shown) = &self.shown else { return };
        let (id, dimensions) = (shown.map.id, shown.map.explained.len());
        let now = Instant::now();
        if self.layout != Layout::Neighbors
            || dimensions < 3
            || self.neighbors.map == Some(id)
            || self.neighbors.progress.is_some()
            || self.neighbors.next.is_some_and(|next| next > now)
        {
            return;
        }
        let start = if self.neighbors.is_of(shown) {
            InitialLayout::Layout(self.neighbors.positions.clone())
        } else {
            InitialLayout::Plane(shown.plane.clone())
        };
        let points = shown.map.coordinates.clone();
        self.neighbors.map = Some(id);
        self.neighbors.progress = Some(0.0);
        self.neighbors.began = Some(now);
        let report = ctx.background.sender();
        let tell = move |positions, progress| {
            report(Box::new(move |app| {
                app.map.neighbors.moved(id, positions, progress);
            }));
        };
        let work = move || {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(THREADS)
                .start_handler(|_| threads::below_normal())
                .build();
            let compute = || {
                let show = |positions, progress| tell(positions, Some(progress));
                neighbor_embedding(&points, dimensions, start, show)
            };
            let computed = match pool {
                // The crate asserts what it expects of points.
                Ok(pool) => {
                    let computed = catch_unwind(AssertUnwindSafe(|| pool.install(compute)));
                    computed.ok().flatten()
                }
                Err(error) => {
                    tracing::error!(%error, "no thread for a map");
                    None
                }
            };
            tell(computed.unwrap_or_default(), None);
        };
        ctx.background.run(work, |_, ()| {});
    }
}
