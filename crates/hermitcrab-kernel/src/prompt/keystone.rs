//! The choice of the keystone for a boot: the stored one or the embedded one.

use jiff::civil::Date;
use pscale_blocks::{Block, BlockError, BlockName, Path, TokenCounter, render_json};

use super::defaults::{CoreBlock, RELEASED_KEYSTONES};

/// A stored keystone with more tokens than this, as JSON, is not sent to a model.
const MOST_TOKENS: usize = 2_000;

/// The path of the version.
const VERSION: &str = "0.5.1";

/// The keystone in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Persisted<'a> {
    /// The store has no keystone.
    Missing,
    /// The keystone cannot be read, for this reason.
    Unreadable(&'a str),
    /// The stored keystone.
    Found(&'a Block),
}

/// The source of the keystone that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeystoneSource {
    /// The embedded keystone.
    Embedded,
    /// The stored keystone; it equals the embedded one, or is newer.
    Persisted,
    /// The stored keystone, with the embedded one's number and different content.
    Edited,
}

/// The change to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreAction {
    /// No change.
    Leave,
    /// The embedded keystone is stored as a new block.
    Create,
    /// The embedded keystone is stored as a new revision.
    Replace {
        /// The name under which the previous block is kept, because it had been edited.
        keep_as: Option<BlockName>,
    },
}

/// The decision about the keystone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The source of the keystone.
    pub which: KeystoneSource,
    /// The keystone that is read.
    pub block: Block,
    /// One line for the person.
    pub notice: Option<String>,
    /// The change to the store.
    pub action: StoreAction,
}

/// The number of a keystone, if `0.5.1` begins `keystone v<number> (<date>)`.
pub fn keystone_version(block: &Block) -> Option<u64> {
    let path: Path = VERSION.parse().ok()?;
    let line = match block.text(&path) {
        Ok(line) => line?,
        // The block has grown.
        Err(BlockError::NotFound {
            near: Some(moved), ..
        }) => block.text(&moved).ok()??,
        Err(_) => return None,
    };
    let (number, rest) = line.strip_prefix("keystone v")?.split_once(" (")?;
    let (date, _) = rest.split_once(')')?;
    date.parse::<Date>().ok()?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok())?
}

/// Decides between the stored keystone and `embedded`. The higher number wins; with equal numbers the stored one. A stored
/// one that cannot teach is left where it is and not read.
pub fn choose(persisted: Persisted<'_>, embedded: &Block, tokens: &dyn TokenCounter) -> Choice {
    let built_in = |notice: Option<String>, action| Choice {
        which: KeystoneSource::Embedded,
        block: embedded.clone(),
        notice,
        action,
    };
    let stored = match persisted {
        Persisted::Missing => return built_in(None, StoreAction::Create),
        Persisted::Unreadable(why) => {
            let notice =
                format!("the stored keystone cannot be read ({why}); the built-in one is used");
            return built_in(Some(notice), StoreAction::Leave);
        }
        Persisted::Found(stored) => stored,
    };
    // The built-in one teaches; to count it would load the tokenizer at every start.
    if stored != embedded
        && let Err(why) = teaches(stored, tokens)
    {
        let notice = format!(
            "the stored keystone is not used: {why}; `hermitcrab block undo keystone` takes its last edit back"
        );
        return built_in(Some(notice), StoreAction::Leave);
    }
    let own = keystone_version(embedded).unwrap_or_default();
    // One that does not say its number was edited.
    let version = keystone_version(stored).unwrap_or(own);
    if version < own {
        let keep_as = kept_as(stored, version);
        let kept = keep_as.as_ref().map_or(String::new(), |name| {
            format!("; your edited one is kept as block {name}")
        });
        let notice = format!("keystone v{own} takes the place of v{version}{kept}");
        return built_in(Some(notice), StoreAction::Replace { keep_as });
    }
    let (which, notice) = if version > own {
        let notice =
            format!("the stored keystone v{version} is newer than the built-in v{own} and is used");
        (KeystoneSource::Persisted, Some(notice))
    } else if stored == embedded {
        (KeystoneSource::Persisted, None)
    } else {
        let notice = format!("the stored keystone v{version} was edited and is used");
        (KeystoneSource::Edited, Some(notice))
    };
    Choice {
        which,
        block: stored.clone(),
        notice,
        action: StoreAction::Leave,
    }
}

/// Whether a model can learn the format from a keystone, or why it cannot.
fn teaches(block: &Block, tokens: &dyn TokenCounter) -> Result<(), String> {
    if block.head_text().is_none_or(|head| head.trim().is_empty()) {
        return Err("its head has no text".to_owned());
    }
    let count = tokens.count(&render_json(block));
    if count > MOST_TOKENS {
        return Err(format!(
            "it has {count} tokens, and {MOST_TOKENS} is the most"
        ));
    }
    Ok(())
}

/// The name for a stored keystone that was edited; `None` for one as a program wrote it, which is not lost.
fn kept_as(stored: &Block, version: u64) -> Option<BlockName> {
    let hash = hex::encode(stored.hash());
    let untouched = RELEASED_KEYSTONES.contains(&(version, hash.as_str()));
    if untouched {
        return None;
    }
    BlockName::new(&format!("{}-{version}", CoreBlock::Keystone.name())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of the embedded keystone raises its number and leaves the previous hash in the list.
    #[test]
    fn the_embedded_keystone_is_the_last_of_those_released() {
        let embedded = CoreBlock::Keystone.embedded();
        let (number, hash) = RELEASED_KEYSTONES.last().unwrap();
        assert_eq!(keystone_version(embedded), Some(*number));
        assert_eq!(hex::encode(embedded.hash()), *hash);
        assert!(RELEASED_KEYSTONES.is_sorted());
    }
}
