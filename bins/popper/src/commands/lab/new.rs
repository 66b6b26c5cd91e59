//! The command `popper lab new`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use bin_support::output::write_file;
use bin_support::{Exit, Failure, Session};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use popper_discovery::lab::{LabTier, SealedUniverse};

use crate::episode::{exists, failure};
use crate::error::Error;
use crate::input::shell_word;

#[derive(Debug, clap::Args)]
pub struct LabNewArgs {
    /// Tier: A and B show states, C three observables, D states with noise.
    #[arg(long, value_name = "TIER", value_parser = tiers())]
    pub tier: LabTier,
    /// Random seed: the same seed gives the same files [default: 32 random bytes].
    ///
    /// A player who knows or guesses the seed can make the sealed file again, so give one only where the universe need not be secret.
    #[arg(long, value_name = "SEED", value_parser = bin_support::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Name of the two files without .public.json and .sealed.json; they must be new.
    #[arg(short, long, value_name = "NAME")]
    pub output: PathBuf,
}

fn tiers() -> impl TypedValueParser<Value = LabTier> {
    let names = LabTier::ALL.map(LabTier::name);
    PossibleValuesParser::new(names).map(|name| {
        let named = |tier: &LabTier| tier.name() == name;
        LabTier::ALL.into_iter().find(named).unwrap_or(LabTier::A)
    })
}

pub fn execute(args: &LabNewArgs, session: &mut Session) -> Result<Exit, Failure> {
    let drawn = match args.seed {
        Some(seed) => SealedUniverse::from_seed(args.tier, seed),
        None => SealedUniverse::from_salt(args.tier, salt()?),
    };
    let sealed = drawn.map_err(|error| failure("the universe", &error))?;
    let [public_file, sealed_file] =
        ["public", "sealed"].map(|part| with_suffix(&args.output, part));
    // A second universe would replace the salt of the first one, which nothing gives back.
    for path in [&public_file, &sealed_file] {
        if path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
    }
    let contract = serde_json::to_string_pretty(&sealed.contract()).unwrap_or_default();
    write_file(&sealed_file, |out| {
        out.write_all(sealed.to_json().as_bytes())
    })?;
    write_file(&public_file, |out| writeln!(out, "{contract}"))?;
    writeln!(session.results, "{}", sealed.commitment())?;
    if let Some(seed) = args.seed {
        session.status(&format!(
            "a player who knows seed {seed} can make the sealed file again"
        ));
    }
    let (public_file, sealed_file) = (shell_word(&public_file), shell_word(&sealed_file));
    session.status(&format!("for players: {public_file}"));
    session.status(&format!(
        "next: popper lab play {sealed_file} --baseline random"
    ));
    Ok(Exit::Done)
}

fn with_suffix(path: &Path, part: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{part}.json"));
    name.into()
}

fn salt() -> Result<[u8; 32], Failure> {
    let mut salt = [0; 32];
    let drawn = getrandom::fill(&mut salt);
    drawn.map_err(|error| {
        let message = error.to_string();
        Failure::new(Exit::Failed, Error::Salt { message })
    })?;
    Ok(salt)
}
