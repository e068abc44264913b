//! The map of digits: held-out images and one's own drawings as points of the last hidden layer. It
//! is asked for while it, or what is nearest to the drawing, is shown; while the model is trained,
//! again and again.

mod layout;
pub mod view;
pub mod words;

use std::time::{Duration, Instant};

use self::layout::NeighborLayout;
use crate::ink::Image;
use crate::math::projection::{nearest, turn_to_match, turned};
use crate::protocol::{Command, Question};
use crate::records::{
    COMPONENTS, DigitMap, LabeledImage, MapSpec, ModelInfo, ModelRef, Neighborhood, OWN_IMAGES,
    plane,
};
use crate::window::{App, Level, MyDigitsView, Screen};

/// Images that are wanted near a drawing.
pub const NEAREST: u8 = 10;
/// The shortest time between two maps of a model that is being trained.
const INTERVAL: Duration = Duration::from_secs(1);
/// A map is followed by at least this many times the time that it took from training.
const REST: u32 = 20;
/// How soon a map is asked for again whose images are still read.
const SOON: Duration = Duration::from_millis(200);
/// Points near the drawing whose places, in the layout of neighbors, say where it belongs.
const GUIDES: usize = 5;

/// How points are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// In the plane of the first two principal components.
    #[default]
    Components,
    /// So that neighbors stay neighbors.
    Neighbors,
}

/// Actions on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapAction {
    /// Lay the points out like this.
    Arrange(Layout),
}

/// The state of the map of the model in use.
#[derive(Debug, Default)]
pub struct MapOfDigits {
    pub layout: Layout,
    shown: Option<ShownMap>,
    /// The held-out images, and what identifies them.
    images: Option<(u64, Vec<LabeledImage>)>,
    neighbors: NeighborLayout,
    /// The request in flight, and the drawings in it.
    asked: Option<(u64, Own)>,
    /// When the next request may be sent.
    next: Option<Instant>,
    /// Whether the map is of another state of the model than the one in use, or lacks something.
    is_outdated: bool,
    /// Whether it could not be computed for the model in use.
    failed: bool,
    /// Whether My digits were asked for.
    wants_own: bool,
}

/// A map, and where its points are.
#[derive(Debug)]
pub struct ShownMap {
    pub map: DigitMap,
    own: Own,
    /// How the plane is turned, so that the points are near to where they were before.
    turn: [[f32; 2]; 2],
    /// The points in that plane.
    plane: Vec<[f32; 2]>,
}

/// The person's drawings on the map, and what they are of: the version of My digits.
#[derive(Clone, Debug, Default)]
struct Own {
    version: Option<u64>,
    images: Vec<LabeledImage>,
}

impl ShownMap {
    /// The person's drawings that are on it.
    pub fn own(&self) -> &[LabeledImage] {
        &self.own.images
    }
}

impl MapOfDigits {
    /// The map, once there is one.
    pub const fn shown(&self) -> Option<&ShownMap> {
        self.shown.as_ref()
    }

    /// The image of a point: of a held-out one, or of one's own drawings.
    pub fn image(&self, point: usize) -> Option<&Image> {
        let shown = self.shown.as_ref()?;
        let held_out = shown.map.held_out();
        let labeled = match point.checked_sub(held_out) {
            Some(own) => shown.own.images.get(own),
            None => self.images.as_ref()?.1.get(point),
        };
        labeled.map(|labeled| &labeled.image)
    }

    /// Whether the map could not be computed.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// How far the layout of neighbors is, from 0 to 1, while it is computed.
    pub fn progress(&self) -> Option<f32> {
        self.neighbors
            .progress
            .filter(|_| self.layout == Layout::Neighbors)
    }

    /// Where the points are, in the layout that was chosen or, until it is there, in the plane.
    pub fn positions(&self) -> &[[f32; 2]] {
        let Some(shown) = &self.shown else {
            return &[];
        };
        match self.layout {
            Layout::Neighbors if self.neighbors.is_of(shown) => &self.neighbors.positions,
            _ => &shown.plane,
        }
    }

    /// Where a drawing is among them: in the plane, or among its nearest neighbors.
    pub fn place(&self, neighborhood: &Neighborhood) -> Option<[f32; 2]> {
        let shown = self.shown.as_ref()?;
        if neighborhood.map != shown.map.id {
            return None;
        }
        if self.layout == Layout::Components || !self.neighbors.is_of(shown) {
            return Some(turned(shown.turn, plane(&neighborhood.coordinates)));
        }
        let wanted = shown
            .map
            .explained
            .len()
            .min(neighborhood.coordinates.len());
        let drawing = &neighborhood.coordinates[..wanted];
        let (mut place, mut weights) = ([0.0; 2], 0.0);
        for (point, distance) in nearest(&shown.map.coordinates, drawing, GUIDES) {
            let weight = 1.0 / distance.max(1e-3);
            weights += weight;
            let [x, y] = *self.neighbors.positions.get(point)?;
            place = [place[0] + weight * x, place[1] + weight * y];
        }
        (weights > 0.0).then(|| place.map(|sum| sum / weights))
    }

    /// Another model is in use, or another state of it. One that was trained keeps its last map
    /// until there is the next.
    pub(in crate::window) fn model_changed(&mut self, before: Option<&ModelRef>, now: &ModelRef) {
        (self.asked, self.next, self.failed, self.is_outdated) = (None, None, false, true);
        let was_trained =
            matches!(before, Some(ModelRef::Training(_))) && *now != ModelRef::Starter;
        if before != Some(now) && !was_trained {
            self.shown = None;
            self.neighbors = NeighborLayout::default();
        }
    }

    /// The engine was replaced, or has forgotten everything.
    pub(in crate::window) fn forget(&mut self) {
        *self = Self {
            layout: self.layout,
            ..Self::default()
        };
    }

    /// A request failed: asked again, it would fail again.
    pub(in crate::window) fn request_failed(&mut self, request: u64) {
        let asked = self.asked.take_if(|(asked, _)| *asked == request);
        self.failed |= asked.is_some();
    }

    /// Takes in the answer to a request; true if it is another map than the one there was.
    fn take(&mut self, request: u64, map: Option<Box<DigitMap>>) -> bool {
        let Some((_, own)) = self.asked.take_if(|(asked, _)| *asked == request) else {
            return false;
        };
        let Some(mut map) = map else {
            self.next = Some(Instant::now() + SOON);
            return false;
        };
        let rest = Duration::from_micros(map.micros.into()) * REST;
        self.next = Some(Instant::now() + INTERVAL.max(rest));
        self.is_outdated = false;
        let has_same_images = self
            .images
            .as_ref()
            .is_some_and(|(id, _)| *id == map.images_id);
        if let Some(images) = map.images.take() {
            self.images = Some((map.images_id, images));
        }
        if self.shown.as_ref().is_some_and(|shown| {
            shown.map.id == map.id && shown.map.explained.len() == map.explained.len()
        }) {
            return false;
        }
        let points: Vec<[f32; 2]> = map.plane().collect();
        let before = self.shown.take().filter(|_| has_same_images);
        let turn = match &before {
            Some(before) => {
                let common = before.map.held_out().min(map.held_out());
                turn_to_match(&points[..common], &before.plane[..common])
            }
            None => [[1.0, 0.0], [0.0, 1.0]],
        };
        self.shown = Some(ShownMap {
            plane: points
                .into_iter()
                .map(|point| turned(turn, point))
                .collect(),
            map: *map,
            own,
            turn,
        });
        true
    }
}

impl App {
    /// Actions on the map.
    pub(in crate::window) fn update_layout(&mut self, action: MapAction) {
        let MapAction::Arrange(layout) = action;
        self.map.layout = layout;
    }

    /// Another model is in use than the one before, or another state of it.
    pub(in crate::window) fn map_model_changed(&mut self, before: Option<ModelInfo>) {
        if let Some(now) = &self.ctx.model_in_use {
            let before = before.map(|model| model.reference);
            self.map.model_changed(before.as_ref(), &now.reference);
        }
    }

    /// Asks for the map while something of it is shown, and lays it out; returns when to look
    /// again.
    pub(in crate::window) fn update_map(&mut self) -> Option<Duration> {
        let Self {
            ctx,
            draw,
            map,
            my_digits,
            machine,
            ..
        } = self;
        let shows_map = ctx.screen == Screen::Inside && ctx.inside == Level::Map;
        let shows_nearest = ctx.screen == Screen::Draw && draw.nearest_shown;
        let model = ctx.model_in_use.as_ref()?;
        if !shows_map && !shows_nearest {
            return None;
        }
        if shows_map {
            map.lay_out(ctx);
        }
        if !map.wants_own && !my_digits.is_loaded() {
            map.wants_own = true;
            my_digits.load_my_digits(ctx);
        }
        let may_send = machine.may_send_my_digits(ctx) != Some(false);
        let shows_own = may_send && model.classes.are_digits() && my_digits.is_loaded();
        let version = shows_own.then(|| my_digits.version());
        let components = match map.layout {
            Layout::Components => 2,
            Layout::Neighbors => COMPONENTS,
        };
        let is_trained = matches!(model.reference, ModelRef::Training(_)) && ctx.is_training();
        let lacks = |shown: &ShownMap| {
            shown.own.version != version || shown.map.explained.len() < components.min(3)
        };
        let is_due = is_trained || map.is_outdated || map.shown.as_ref().is_none_or(lacks);
        if map.asked.is_some() || map.failed || !is_due {
            return None;
        }
        let now = Instant::now();
        if let Some(next) = map.next.filter(|next| *next > now) {
            return Some(next - now);
        }
        let own = version.map_or_else(Own::default, |version| Own {
            version: Some(version),
            images: own_images(my_digits),
        });
        let known = map.images.as_ref().map(|(id, _)| *id);
        let request = ctx.next_id();
        let spec = MapSpec {
            known,
            own: own.images.clone(),
            components,
        };
        map.asked = Some((request, own));
        ctx.send(Command::Read {
            request,
            what: Question::Map(spec),
        });
        None
    }

    /// A map was computed; `None` while its images are still read.
    pub(in crate::window) fn on_map(&mut self, request: u64, map: Option<Box<DigitMap>>) {
        if self.map.take(request, map) {
            // Where the drawing is on it.
            self.draw.recognize_again(&mut self.ctx);
        }
    }
}

/// The newest drawings of the person.
fn own_images(mine: &MyDigitsView) -> Vec<LabeledImage> {
    let drawings = mine.drawings();
    let newest = &drawings[drawings.len().saturating_sub(OWN_IMAGES)..];
    newest
        .iter()
        .map(|drawing| LabeledImage {
            image: drawing.image.clone(),
            label: drawing.kept.digit,
        })
        .collect()
}
