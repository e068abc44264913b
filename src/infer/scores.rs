use crate::records::CLASSES;

/// What the ten logits of one image say.
pub struct Scores {
    /// Softmax of the logits, divided by the temperature.
    pub probabilities: [f32; CLASSES],
    /// The likeliest digit; of equals the first. The temperature does not change it.
    pub digit: usize,
    /// The log of the summed exponentials of the logits: the negative free energy of Liu et al. 2020. Higher means more like the digits
    /// the model was trained on. It is that of the logits as they are, whatever the temperature: what distinguishes digits from other drawings
    /// depends on how large logits are, and its threshold is set on the same score.
    pub energy_score: f32,
}

impl Scores {
    /// The scores of one image.
    pub fn new(logits: [f32; CLASSES], temperature: f32) -> Self {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let digit = logits.iter().position(|&logit| logit == largest).unwrap_or_default();
        let energy: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        let scaled = logits.map(|logit| logit / temperature);
        let largest_scaled = largest / temperature;
        let exponentials = scaled.map(|logit| (logit - largest_scaled).exp());
        let sum: f32 = exponentials.iter().sum();
        Self { probabilities: exponentials.map(|e| e / sum), digit, energy_score: largest + energy.ln() }
    }

    /// The scores of each row of `[n, 10]` logits.
    pub fn of_rows(logits: &[f32], temperature: f32) -> impl Iterator<Item = Self> + '_ {
        logits.as_chunks::<CLASSES>().0.iter().map(move |row| Self::new(*row, temperature))
    }
}
