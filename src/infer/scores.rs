/// What the logits of one image say.
pub struct Scores {
    /// Softmax of the logits, divided by the temperature: a probability per class.
    pub probabilities: Vec<f32>,
    /// The likeliest class; of equals the first. The temperature does not change it.
    pub digit: usize,
    /// The log of the summed exponentials of the logits: the negative free energy of Liu et al.
    /// 2020. Higher means more like the images the model was trained on. It is that of the logits
    /// as they are, whatever the temperature: what distinguishes digits from other drawings depends
    /// on how large logits are, and its threshold is set on the same score.
    pub energy_score: f32,
}

impl Scores {
    /// The scores of one image.
    pub fn new(logits: &[f32], temperature: f32) -> Self {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let digit = logits
            .iter()
            .position(|&logit| logit == largest)
            .unwrap_or_default();
        let energy: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        let largest_scaled = largest / temperature;
        let mut probabilities: Vec<f32> = logits
            .iter()
            .map(|logit| (logit / temperature - largest_scaled).exp())
            .collect();
        let sum: f32 = probabilities.iter().sum();
        probabilities
            .iter_mut()
            .for_each(|probability| *probability /= sum);
        Self {
            probabilities,
            digit,
            energy_score: largest + energy.ln(),
        }
    }

    /// The scores of each row of `[n, classes]` logits.
    pub fn of_rows(
        logits: &[f32],
        classes: usize,
        temperature: f32,
    ) -> impl Iterator<Item = Self> + '_ {
        logits
            .chunks_exact(classes.max(1))
            .map(move |row| Self::new(row, temperature))
    }
}
