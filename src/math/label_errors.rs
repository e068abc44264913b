//! Labels that are probably wrong, by confident learning (Northcutt, Jiang, Chuang 2021, "Confident
//! Learning: Estimating Uncertainty in Dataset Labels", JAIR 70). It takes the probabilities of a
//! model that did not learn from these labels.

/// A label that is suspected to be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelSuspect {
    /// Position of its image.
    pub index: usize,
    /// The class that the image probably belongs to.
    pub suggested: usize,
    /// The normalized margin: the label's probability minus the suggestion's. The lower, the
    /// more suspicious.
    pub margin: f32,
}

/// The suspects among images with these probabilities of each class and these labels, the most
/// suspicious first: images that rather count as another class than the one they are labeled as. An
/// image counts as a class if the class is at least as probable as it is on average for images
/// labeled as that; of several such classes, as the most probable.
pub fn label_suspects<'a>(
    images: impl Iterator<Item = (&'a [f32], u8)> + Clone,
) -> Vec<LabelSuspect> {
    let thresholds = mean_self_confidence(images.clone());
    let suspect = |(index, (probabilities, label)): (usize, (&[f32], u8))| {
        let label = usize::from(label);
        let counts = |(class, probability): &(usize, f32)| {
            let threshold = thresholds.get(*class).copied().flatten();
            threshold.is_some_and(|threshold| f64::from(*probability) >= threshold)
        };
        let (suggested, probability) = probabilities
            .iter()
            .copied()
            .enumerate()
            .filter(counts)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (suggested != label).then(|| LabelSuspect {
            index,
            suggested,
            margin: probabilities.get(label).copied().unwrap_or_default() - probability,
        })
    };
    let mut suspects: Vec<_> = images.enumerate().filter_map(suspect).collect();
    suspects.sort_by(|a, b| a.margin.total_cmp(&b.margin));
    suspects
}

/// The mean probability of each class among the images labeled as that; `None` without such images.
fn mean_self_confidence<'a>(images: impl Iterator<Item = (&'a [f32], u8)>) -> Vec<Option<f64>> {
    let mut sums: Vec<(f64, u32)> = Vec::new();
    for (probabilities, label) in images {
        sums.resize(probabilities.len().max(sums.len()), (0.0, 0));
        let label = usize::from(label);
        if let (Some((sum, count)), Some(&probability)) =
            (sums.get_mut(label), probabilities.get(label))
        {
            *sum += f64::from(probability);
            *count += 1;
        }
    }
    let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
    sums.into_iter().map(mean).collect()
}
