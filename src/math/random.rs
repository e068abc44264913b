//! The one source of randomness: a small seeded generator with named, independent streams. It never
//! reads a clock or the system's entropy, so the same seed gives the same numbers everywhere.

use serde::{Deserialize, Serialize};

/// xoshiro256++ (Blackman & Vigna 2019), seeded through `SplitMix64`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self {
            state: [0, 1, 2, 3].map(|index| Self::at(seed, index)),
        }
    }

    /// 64 random bits: that number of `SplitMix64`'s sequence (Steele, Lea & Flood 2014), without
    /// those before it.
    #[inline]
    pub const fn at(seed: u64, index: u64) -> u64 {
        let z = seed.wrapping_add((index.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An independent generator for `purpose` number `index`, so that adding one use never shifts
    /// another.
    pub fn stream(seed: u64, purpose: &str, index: u64) -> Self {
        let mut generator =
            Self::new(Self::purpose(seed, purpose) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        generator.next_u64();
        generator
    }

    /// A seed for `purpose`; FNV-1a keeps purposes apart by name.
    fn purpose(seed: u64, purpose: &str) -> u64 {
        let name = purpose
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            });
        seed ^ name.rotate_left(17)
    }

    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Uniform in `[low, high)`.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.uniform()
    }

    /// Uniform in `0..bound` (Lemire 2019, without the rejection: the bias is below 2^-32 for the
    /// counts used here); 0 for 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    pub fn chance(&mut self, probability: f32) -> bool {
        self.uniform() < probability
    }

    /// Standard normal (Box & Muller 1958).
    pub fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.uniform()).cos()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
