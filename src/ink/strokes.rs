use serde::{Deserialize, Serialize};

/// One pen-down to pen-up movement: points `[x, y]` in order of time, any unit, y down.
pub type Stroke = Vec<[f32; 2]>;

/// A drawing. As JSON: `{"strokes": [[[x, y], …], …]}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ink {
    /// The strokes in order of time.
    pub strokes: Vec<Stroke>,
    /// Diameter of the pen in the unit of the points; `None` means a pen in proportion to the
    /// drawing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pen: Option<f32>,
}

impl Ink {
    /// True when nothing is drawn: no stroke holds a finite point.
    pub fn is_empty(&self) -> bool {
        !self
            .strokes
            .iter()
            .flatten()
            .any(|[x, y]| x.is_finite() && y.is_finite())
    }

    /// The content of an ink file; `None` when nothing is drawn.
    pub fn json(&self) -> Option<String> {
        serde_json::to_string(self)
            .ok()
            .filter(|_| !self.is_empty())
    }

    /// The same with how hard the pen pressed: as [`super::InkEntry::pressures`].
    pub fn json_with(&self, pressures: &[Vec<f32>]) -> Option<String> {
        #[derive(Serialize)]
        struct Pressed<'i> {
            #[serde(flatten)]
            ink: &'i Ink,
            pressures: &'i [Vec<f32>],
        }
        if pressures.iter().all(Vec::is_empty) {
            return self.json();
        }
        serde_json::to_string(&Pressed {
            ink: self,
            pressures,
        })
        .ok()
        .filter(|_| !self.is_empty())
    }

    /// A line of an ink file with this label; `None` when nothing is drawn.
    pub fn labelled_json(&self, label: char) -> Option<String> {
        #[derive(Serialize)]
        struct Labelled<'i> {
            #[serde(flatten)]
            ink: &'i Ink,
            label: char,
        }
        serde_json::to_string(&Labelled { ink: self, label })
            .ok()
            .filter(|_| !self.is_empty())
    }
}
