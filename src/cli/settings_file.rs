//! The settings of the window, for commands that only look at them.

use crate::system::files::read_limited;
use crate::system::paths::Paths;
use crate::window::Settings;

/// Larger settings are not read.
const MAX_BYTES: u64 = 1 << 20;

/// The settings, or the defaults; unlike `Settings::load`, this leaves a file that cannot be read
/// where it is.
pub fn read(paths: &Paths) -> Settings {
    let read = read_limited(&paths.settings, MAX_BYTES)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.unwrap_or_default()
}
