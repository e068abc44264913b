//! Looking into the model in use while it recognizes the drawing: its network, a layer, a unit, one
//! number. What the network computes comes with what was read on the canvas.

pub mod timeline;
pub mod view;
pub mod words;

use crate::records::UnitSelection;
use crate::window::{Ctx, Draw};

/// How closely one looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At all layers.
    Network,
    /// At what it made of the same images in the course of its run.
    Timeline,
    /// At the map of what the last hidden layer makes of many images.
    Map,
    /// At all units of this layer.
    Layer(usize),
    /// At this unit.
    Unit { layer: usize, unit: usize },
    /// At the number at this place of its map.
    Number {
        layer: usize,
        unit: usize,
        place: usize,
    },
}

/// Actions on this screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsideAction {
    /// Look at this.
    Open(Level),
    /// Look at what is around that.
    Back,
}

impl Level {
    /// The level around it; `None` for the network.
    pub const fn outer(self) -> Option<Self> {
        match self {
            Self::Network => None,
            Self::Map | Self::Timeline | Self::Layer(_) => Some(Self::Network),
            Self::Unit { layer, .. } => Some(Self::Layer(layer)),
            Self::Number { layer, unit, .. } => Some(Self::Unit { layer, unit }),
        }
    }

    /// The unit that is looked at.
    pub const fn look(self) -> Option<UnitSelection> {
        match self {
            Self::Network | Self::Map | Self::Timeline | Self::Layer(_) => None,
            Self::Unit { layer, unit } => Some(UnitSelection {
                layer,
                unit,
                place: None,
            }),
            Self::Number { layer, unit, place } => Some(UnitSelection {
                layer,
                unit,
                place: Some(place),
            }),
        }
    }
}

impl Draw {
    pub(in crate::window) fn update_inside(&mut self, ctx: &mut Ctx, action: InsideAction) {
        let level = match action {
            InsideAction::Open(level) => Some(level),
            InsideAction::Back => ctx.inside.outer(),
        };
        if let Some(level) = level {
            let was_map = std::mem::replace(&mut ctx.inside, level) == Level::Map;
            if level.look().is_some() || was_map != (level == Level::Map) {
                self.recognize_again(ctx);
            }
        }
    }
}
