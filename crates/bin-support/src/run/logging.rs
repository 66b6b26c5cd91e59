use std::fmt::{self, Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::flags::{CommonFlags, LogFormat};
use super::progress::Progress;
use crate::escape;

/// Sends `tracing` events to stderr. A subscriber that is already set stays.
pub(crate) fn start(flags: &CommonFlags, progress: &Progress) {
    let level = match flags.verbose {
        _ if flags.quiet => Level::WARN,
        0 | 1 => Level::INFO,
        _ => Level::DEBUG,
    };
    // These libraries tell of every message and of every lost connection, in the words of their own source.
    let levels = Targets::new()
        .with_default(level)
        .with_target("rmcp", Level::ERROR)
        .with_target("sqlx", Level::ERROR);
    // It reports an error of writing by `eprintln!`, which panics where stderr is gone: a full disk, a closed terminal.
    let builder = tracing_subscriber::fmt()
        .with_writer(progress.clone())
        .log_internal_errors(false);
    // The only error is a subscriber set before, by a program that wants its own.
    let _ = match flags.log_format {
        LogFormat::Text => {
            let lines = builder.event_format(Sentence).finish();
            lines.with(levels).try_init()
        }
        LogFormat::Json => {
            let objects = builder.json().flatten_event(true).finish();
            objects.with(levels).try_init()
        }
    };
}

/// The text form: the message of the event on one line. Fields appear in the JSON form only.
struct Sentence;

impl<S, N> FormatEvent<S, N> for Sentence
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
        let mut message = Message(String::new());
        event.record(&mut message);
        writeln!(writer, "{}", escape(&message.0))
    }
}

/// The text of an event's message.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // A `String` takes everything.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_text_form_is_one_sentence_without_names_of_fields() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .event_format(Sentence)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("chat", gen_ai.request.model = "m");
            let _inside = span.enter();
            tracing::warn!(
                { llm.wait_ms = 50 },
                "retrying in {} ms (2 of 3): cannot connect",
                50
            );
            tracing::info!("a\u{1b}[2J\nb");
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(
            text,
            "retrying in 50 ms (2 of 3): cannot connect\na\\u{1b}[2J\\nb\n"
        );
    }
}
