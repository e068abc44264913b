use crate::records::CLASSES;

/// What the ten logits of one image say.
pub struct Scores {
    /// Softmax of the logits.
    pub probabilities: [f32; CLASSES],
    /// The likeliest digit; of equals the first.
    pub digit: usize,
    /// The log of the summed exponentials of the logits: the negative free energy of Liu et al. 2020. Higher means more like the digits
    /// the model was trained on.
    pub energy_score: f32,
}

impl Scores {
    /// The scores of one image.
    pub fn new(logits: [f32; CLASSES]) -> Self {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exponentials = logits.map(|logit| (logit - largest).exp());
        let sum: f32 = exponentials.iter().sum();
        let digit = logits.iter().position(|&logit| logit == largest).unwrap_or_default();
        Self { probabilities: exponentials.map(|e| e / sum), digit, energy_score: largest + sum.ln() }
    }

    /// The scores of each row of `[n, 10]` logits.
    pub fn of_rows(logits: &[f32]) -> impl Iterator<Item = Self> + '_ {
        logits.as_chunks::<CLASSES>().0.iter().map(|row| Self::new(*row))
    }
}
