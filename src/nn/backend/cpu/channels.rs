//! Loops over `[…, channels]` with one value per channel: sums over all positions, and the value
//! repeated for all positions.

/// Numbers that the inner loops run over at once. Few channels are taken several pixels at a time,
/// so that a loop is long enough for vector instructions.
const TILE: usize = 64;

/// Channels of whole pixels, about `TILE` of them.
pub const fn tile_len(channels: usize) -> usize {
    if channels < TILE {
        TILE / channels * channels
    } else {
        channels
    }
}

/// The numbers of one pixel, repeated for a tile.
pub fn tile(of_channels: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    let channels = of_channels.clone().count();
    of_channels.cycle().take(tile_len(channels)).collect()
}

/// Adds up the tiles of `sums` to one number per channel.
pub fn fold(sums: &[f32], channels: usize) -> Vec<f32> {
    let mut folded = vec![0.0; channels];
    for pixel in sums.chunks_exact(channels) {
        folded
            .iter_mut()
            .zip(pixel)
            .for_each(|(sum, value)| *sum += value);
    }
    folded
}
