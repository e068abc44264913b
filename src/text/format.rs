//! How numbers are written for people: counts, percentages, sizes, rates, durations. One place, so
//! that the same number reads the same in the window, in the terminal and in a file.

/// A count with its thousands set apart: 12,345.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with as many digits as it needs, and none that only stand for a rounding error: 0.0003,
/// not 0.00030000000000000003.
pub fn plain(number: f64) -> String {
    format!("{number:.12e}")
        .parse()
        .unwrap_or(number)
        .to_string()
}

/// The texts of these with this between them.
pub fn joined(parts: impl IntoIterator<Item = impl ToString>, between: &str) -> String {
    let texts = parts.into_iter().map(|part| part.to_string());
    texts.collect::<Vec<_>>().join(between)
}

/// "3", "3 or 7", "1, 3 or 7".
pub fn either(parts: impl IntoIterator<Item = impl ToString>) -> String {
    let texts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
    match texts.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

/// The text with its first letter large, as a sentence begins.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// A fraction in percent with the decimals that it has, up to three: "97%", "99.5%".
pub fn plain_percent(share: f64) -> String {
    format!("{}%", plain((share * 1e5).round() / 1e3))
}

/// A fraction as a percentage that never rounds an imperfect figure up to 100: 0.9893 with two
/// places is "98.93%".
pub fn percent(share: f64, places: usize) -> String {
    let scale = 10f64.powi(places as i32);
    let mut value = (share * 100.0 * scale).round() / scale;
    if share < 1.0 && value >= 100.0 {
        value = 100.0 - 1.0 / scale;
    }
    format!("{value:.places$}%")
}

/// A size of memory: 411,041,792 bytes are "392 MiB", 12 x 1024³ "12.0 GiB".
pub fn memory(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    if mebibytes < 1000.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

/// A size of a file or a disk, as file managers show it: 6,653,480 bytes are "6.7 MB".
pub fn file_size(bytes: u64) -> String {
    match bytes as f64 {
        few if few < 1e3 => format!("{few} bytes"),
        few if few < 1e6 => format!("{:.0} kB", few / 1e3),
        some if some < 1e9 => format!("{:.1} MB", some / 1e6),
        many => format!("{:.1} GB", many / 1e9),
    }
}

/// A time span in the two units that matter: "42 s", "2 min 3 s", "1 h 5 min".
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, 0) if seconds > 0.0 && seconds < 0.095 => {
            format!("{:.0} ms", (seconds * 1000.0).ceil())
        }
        (0, 0, _) if seconds < 10.0 => format!("{:.1} s", seconds.max(0.0)),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A time span that is only estimated, with two digits that matter: "2.6 s", "28 s", "1.5 min",
/// "12 h".
pub fn approximate(seconds: f64) -> String {
    let (unit, name) = match seconds {
        ..60.0 => (1.0, "s"),
        60.0..3600.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    format!("{} {name}", plain(rounded(seconds / unit, 2)))
}

/// How long something will still take, rounded up, from 20 seconds on to a multiple of 5: "8 s",
/// "1 min 20 s", "5 min", "2 h 5 min".
pub fn remaining(seconds: f32) -> String {
    let whole = if seconds.is_finite() {
        seconds.max(0.0).ceil() as u64
    } else {
        0
    };
    let whole = if whole > 20 {
        whole.next_multiple_of(5)
    } else {
        whole
    };
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A moment in milliseconds, given in microseconds: "0.05 ms", "0.9 ms", "12 ms".
pub fn milliseconds(microseconds: f32) -> String {
    match microseconds / 1000.0 {
        few if few < 0.095 => format!("{few:.2} ms"),
        some if some < 9.95 => format!("{some:.1} ms"),
        many => format!("{many:.0} ms"),
    }
}

/// A number as it is with this many significant digits, at least one.
pub fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits.saturating_sub(1))
        .parse()
        .unwrap_or(number)
}

/// A figure with three digits that matter: 0.000412, 0.0123, 4.57, 218, 12,345.
pub fn significant(value: f64) -> String {
    match value {
        _ if value == 0.0 || !value.is_finite() => format!("{value}"),
        999.5.. => grouped(value.round() as u64),
        _ => {
            let places = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
            let text = format!("{value:.places$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    }
}

/// A moment in RFC 3339 as people here write it: "21 Nov 2026, 14:03".
pub fn local_time(rfc3339: &str) -> String {
    let Ok(moment) = rfc3339.parse::<jiff::Timestamp>() else {
        return super::visible::label(rfc3339);
    };
    moment
        .to_zoned(jiff::tz::TimeZone::system())
        .strftime("%-d %b %Y, %H:%M")
        .to_string()
}

/// How names begin that are made of a moment: they sort by age, every file system takes them, and
/// no shell needs quotes around them.
pub const NAME_TIME: &str = "%Y-%m-%d_%H-%M-%S";

/// A moment as the beginning of a name, in local time: "2026-11-21_14-03-11".
pub fn name_time(moment: jiff::Timestamp) -> String {
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    local.strftime(NAME_TIME).to_string()
}

/// The characters of the longest of these, which is how wide their column is.
pub fn widest(texts: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    let widths = texts.into_iter().map(|text| text.as_ref().chars().count());
    widths.max().unwrap_or_default()
}

/// A count with its unit: `1 epoch`, `12,000 epochs`.
pub fn count(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}
