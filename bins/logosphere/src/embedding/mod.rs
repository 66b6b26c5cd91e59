//! The vectors of a run's texts, by the encoder of `--embed`.

mod encoder_name;
mod requests;
mod server;

use std::path::{Path, PathBuf};

use bin_support::{Failure, Session};
use llm_client::Usd;
use logosphere_core::Transcript;
use logosphere_core::measures::embedding::{Embeddings, chargram, texts};

use crate::error::Error;
use encoder_name::EncoderName;

/// The flags of the vectors of texts. Nothing is sent without `--embed`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EmbedFlags {
    /// Encoder of texts: chargram, or PROVIDER:MODEL of a server.
    ///
    /// chargram is computed on this machine from the letters of a text: it sees spelling, not meaning. A server, such as
    /// openai:text-embedding-3-small, is sent each text once; its vectors are kept in the run's folder. Its key is
    /// `LOGOSPHERE_EMBED_API_KEY`, or else the provider's own.
    #[arg(long, value_name = "NAME")]
    pub embed: Option<EncoderName>,
    /// Address of the encoder's server, with `/v1` at its end.
    #[arg(long, value_name = "URL", requires = "embed", hide_short_help = true)]
    pub embed_url: Option<String>,
    /// Use the kept vectors only, without a network.
    #[arg(
        long,
        requires = "embed",
        conflicts_with = "embed_fresh",
        hide_short_help = true
    )]
    pub embed_cached: bool,
    /// Replace the kept vectors by new ones, once all are there.
    #[arg(long, requires = "embed", hide_short_help = true)]
    pub embed_fresh: bool,
    /// Cap in dollars for the vectors of this command.
    #[arg(
        long,
        value_name = "DOLLARS",
        requires = "embed",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub embed_max_usd: Option<Usd>,
    /// Table of prices that overrides the built-in one.
    #[arg(long, value_name = "FILE", requires = "embed", hide_short_help = true)]
    pub embed_prices: Option<PathBuf>,
}

impl EmbedFlags {
    /// Refuses the flags of a server for an encoder of this program.
    fn check_local(&self) -> Result<(), Failure> {
        let flags = [
            ("--embed-url", self.embed_url.is_some()),
            ("--embed-cached", self.embed_cached),
            ("--embed-fresh", self.embed_fresh),
            ("--embed-max-usd", self.embed_max_usd.is_some()),
            ("--embed-prices", self.embed_prices.is_some()),
        ];
        match flags.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::usage(Error::EmbedLocal { flag })),
            None => Ok(()),
        }
    }
}

/// Returns the vectors of texts by the encoder of the flags; `None` without one, and without a text and kept vectors.
///
/// `folder` is that of the run. Texts that have no vector yet are sent to the server and kept. A text without a visible
/// character has no vector.
pub fn obtain(
    flags: &EmbedFlags,
    folder: &Path,
    texts: &[&str],
    session: &Session,
) -> Result<Option<Embeddings>, Failure> {
    match &flags.embed {
        None => Ok(None),
        Some(EncoderName::Chargram) => {
            flags.check_local()?;
            Ok(Some(chargram(texts.iter().copied())))
        }
        Some(name @ EncoderName::Server { provider, model }) => {
            let asked = server::ServerEncoder {
                name: name.to_string(),
                provider: *provider,
                model,
                flags,
                folder,
                session,
            };
            asked.obtain(texts)
        }
    }
}

/// Returns the vectors of a run's texts; `given` is the path that the run was read from. `None` without an encoder.
pub fn of_run(
    flags: &EmbedFlags,
    given: &Path,
    run: &Transcript,
    session: &Session,
) -> Result<Option<Embeddings>, Failure> {
    if flags.embed.is_none() {
        return Ok(None);
    }
    obtain(flags, &folder(given), &texts(run), session)
}

/// Returns the folder of a run that a path refers to: a directory, or the one of its journal.
pub fn folder(given: &Path) -> PathBuf {
    if given.is_dir() {
        return given.to_owned();
    }
    let folder = given.parent().unwrap_or(Path::new(""));
    match folder.parent() {
        Some(experiment) if given.ends_with("logs/experiment.jsonl") => experiment.to_owned(),
        _ => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_journal_is_that_of_its_experiment() {
        for (given, expected) in [
            ("no/E/logs/experiment.jsonl", "no/E"),
            ("no/imported.jsonl", "no"),
            ("experiment.jsonl", ""),
            ("logs/experiment.jsonl", ""),
        ] {
            assert_eq!(folder(Path::new(given)), Path::new(expected), "{given}");
        }
        assert_eq!(folder(Path::new(".")), Path::new("."));
    }
}
