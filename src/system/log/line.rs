//! A line of the log file: `TIME PROCESS LEVEL TARGET: MESSAGE name="value" …`.

use std::fmt::{self, Debug, Write};

use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::shown;
use crate::text::visible;

/// Writes such lines. Values are always quoted, with line breaks and quotation marks escaped, so
/// that it is certain where each ends.
pub struct LineFormat;

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let time = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let mut fields = Fields::default();
        event.record(&mut fields);
        writeln!(
            writer,
            "{time} {} {level} {target}: {}{}",
            std::process::id(),
            fields.message,
            fields.others
        )
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = shown(value);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(
                self.others,
                " {}={:?}",
                field.name(),
                visible::without_credentials(value)
            );
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
