//! Sealed universes, and the files that commit to them.

use std::fmt;

use popper_harness::json;
use popper_harness::universe::{Tabulated, Universe as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::contract::{LabContract, LabLimits, LabQuestions, Visible};
use super::draw;
use super::error::LabError;
use super::limits::{BUDGET, LAB_VERSION, LONGEST_LINE, MOST_CELLS, MOST_LAWS, TIMES};
use super::random::LabRandom;
use super::tier::LabTier;

/// A universe with the salt that everything drawn follows from.
///
/// The commitment covers the tier, the salt and the definition. Held-out starts, noise and observables follow from the salt, so it covers
/// them, too.
#[derive(Clone)]
pub struct SealedUniverse {
    tier: LabTier,
    salt: [u8; 32],
    seed: Option<u64>,
    universe: Tabulated,
}

/// The salt and the rule are in no output, so in no debug output either.
impl fmt::Debug for SealedUniverse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedUniverse")
            .field("tier", &self.tier)
            .field("commitment", &self.commitment())
            .finish_non_exhaustive()
    }
}

/// The sealed file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedFile {
    schema_version: String,
    tier: LabTier,
    /// The seed that the salt comes from, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    salt: String,
    definition: Value,
}

impl SealedUniverse {
    /// Draws the universe of a seed. The same seed gives the same files.
    ///
    /// The salt is derived from the seed, so such a universe is secret only as long as the seed is: a player who knows or guesses it can
    /// make the sealed file again. [`from_salt`](Self::from_salt) with 32 random bytes has no such short name.
    ///
    /// # Errors
    /// [`LabError::Universe`] if the definition is invalid, which no seed is known to give.
    pub fn from_seed(tier: LabTier, seed: u64) -> Result<Self, LabError> {
        let mut random = LabRandom::new(&seed.to_le_bytes(), "salt", 0);
        let salt = std::array::from_fn(|_| random.below(256) as u8);
        let mut sealed = Self::from_salt(tier, salt)?;
        sealed.seed = Some(seed);
        Ok(sealed)
    }

    /// Draws the universe of a salt.
    ///
    /// # Errors
    /// As [`from_seed`](Self::from_seed).
    pub fn from_salt(tier: LabTier, salt: [u8; 32]) -> Result<Self, LabError> {
        Ok(Self {
            tier,
            salt,
            seed: None,
            universe: draw::universe(tier, &salt)?,
        })
    }

    /// Reads a sealed file. Its definition may be any rule with the symbols, the radius and the transforms of the tier.
    ///
    /// # Errors
    /// [`LabError`] names the key that has another form.
    pub fn from_json(text: &str) -> Result<Self, LabError> {
        let value = json::parse(text.strip_prefix('\u{feff}').unwrap_or(text), "$")
            .map_err(|error| LabError::form(&error.path, error.message))?;
        let form = |error: serde_json::Error| {
            let message = format!("expected a sealed file of `popper lab new`: {error}");
            LabError::form("$", message)
        };
        let file: SealedFile = serde_json::from_value(value).map_err(form)?;
        if file.schema_version != LAB_VERSION {
            let message = format!("is {:?}, expected {LAB_VERSION:?}", file.schema_version);
            return Err(LabError::form("$.schema_version", message));
        }
        let mut salt = [0; 32];
        hex::decode_to_slice(&file.salt, &mut salt)
            .map_err(|_| LabError::form("$.salt", "expected 64 hex digits"))?;
        let sealed = Self {
            tier: file.tier,
            salt,
            seed: file.seed,
            universe: Tabulated::from_value(&file.definition)?,
        };
        sealed.check_definition()?;
        Ok(sealed)
    }

    /// Checks that the definition has the form of its tier.
    fn check_definition(&self) -> Result<(), LabError> {
        let (tier, found) = (self.tier, self.universe.definition());
        let wrong = |key: &str, message: String| {
            Err(LabError::form(&format!("$.definition.{key}"), message))
        };
        let expected = |what: &dyn fmt::Display| format!("expected {what} in tier {}", tier.name());
        if found.id != draw::universe_id(tier) {
            return wrong("id", expected(&draw::universe_id(tier)));
        }
        if found.symbols != tier.symbols() {
            return wrong("symbols", expected(&format!("{:?}", tier.symbols())));
        }
        if found.radius != tier.radius() {
            return wrong("radius", expected(&tier.radius()));
        }
        if !found.initial_forbidden.is_empty() || found.incoming.is_some() {
            return wrong("initial_forbidden", expected(&"neither it nor `incoming`"));
        }
        let named = found.transforms.iter();
        let is_same = named
            .map(|one| (&one.name, one.reverse, &one.map))
            .eq(draw::transforms(tier)
                .iter()
                .map(|one| (&one.name, one.reverse, &one.map)));
        if !is_same {
            return wrong(
                "transforms",
                expected(&"the transforms of the public file, in their order"),
            );
        }
        Ok(())
    }

    /// Returns the sealed file.
    pub fn to_json(&self) -> String {
        let file = SealedFile {
            schema_version: LAB_VERSION.to_owned(),
            tier: self.tier,
            seed: self.seed,
            salt: hex::encode(self.salt),
            definition: serde_json::to_value(self.universe.definition()).unwrap_or_default(),
        };
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Returns the tier.
    pub fn tier(&self) -> LabTier {
        self.tier
    }

    /// Returns the universe.
    pub fn universe(&self) -> &Tabulated {
        &self.universe
    }

    /// Returns the commitment: sha256 of four lines without a last line end, which are `popper-lab/1`, the tier, the salt in hex, and the
    /// definition as JSON without spaces.
    pub fn commitment(&self) -> String {
        let definition = serde_json::to_string(&self.universe.definition()).unwrap_or_default();
        let (tier, salt) = (self.tier.name(), hex::encode(self.salt));
        hex::encode(Sha256::digest(format!(
            "popper-lab/1\n{tier}\n{salt}\n{definition}"
        )))
    }

    /// Returns the public part.
    pub fn contract(&self) -> LabContract {
        let tier = self.tier;
        let starts = draw::starts(tier, &self.salt);
        let text = |start: &Vec<u8>| self.universe.alphabet().text(start);
        LabContract {
            schema_version: LAB_VERSION.to_owned(),
            tier,
            symbols: tier.symbols().to_owned(),
            radius: tier.radius(),
            visible: if tier.shows_states() {
                Visible::States {
                    noise_percent: tier.noise_percent(),
                }
            } else {
                Visible::Observables(draw::observables(tier, &self.salt))
            },
            transforms: draw::transforms(tier),
            limits: LabLimits {
                budget_cells: BUDGET,
                ring_cells: MOST_CELLS,
                laws: MOST_LAWS,
                line_bytes: LONGEST_LINE,
            },
            questions: LabQuestions {
                times: TIMES.to_vec(),
                starts: (1..)
                    .zip(&starts)
                    .map(|(number, start)| (format!("q{number:02}"), text(start)))
                    .collect(),
            },
            commitment: self.commitment(),
        }
    }

    /// Checks that a public file or the first line of a log is the public part of this universe. `what` names it in an error.
    ///
    /// # Errors
    /// [`LabError::Mismatch`] for another commitment, [`LabError::Edited`] for other contents.
    pub fn check(&self, contract: &LabContract, what: &str) -> Result<(), LabError> {
        let own = self.contract();
        if contract.commitment != own.commitment {
            return Err(LabError::Mismatch {
                expected: contract.commitment.clone(),
                found: own.commitment,
            });
        }
        if *contract != own {
            return Err(LabError::Edited {
                what: what.to_owned(),
            });
        }
        Ok(())
    }

    /// Returns the stream of noise of an experiment, by its number.
    pub(super) fn noise(&self, experiment: u64) -> LabRandom {
        LabRandom::new(&self.salt, "noise", experiment)
    }
}
