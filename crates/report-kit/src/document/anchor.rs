//! Anchors: the targets of links within a page.

use std::cell::Cell as Slot;
use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// The anchors of a page during rendering, and the counter for generated ids.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    known: BTreeSet<String>,
    used: Slot<usize>,
}

impl Anchors {
    /// Registers an anchor.
    pub(crate) fn add(&mut self, anchor: &str) -> Result<(), Error> {
        if self.known.insert(anchor.to_owned()) {
            Ok(())
        } else {
            Err(Error::DuplicateAnchor {
                anchor: anchor.to_owned(),
            })
        }
    }

    /// The address of an anchor of this page.
    pub(crate) fn href(&self, anchor: &str) -> Result<String, Error> {
        if self.known.contains(anchor) {
            Ok(format!("#{}", id(anchor)))
        } else {
            Err(Error::UnknownAnchor {
                anchor: anchor.to_owned(),
            })
        }
    }

    /// A generated id that differs from every anchor.
    pub(crate) fn fresh(&self) -> String {
        let next = self.used.get() + 1;
        self.used.set(next);
        format!("kit-{next}")
    }
}

/// The id of an anchor: the anchor itself if it is plain, so that addresses are readable and stable; otherwise a hash.
///
/// The prefix separates it from generated ids and from names that have a meaning in a script.
pub(crate) fn id(anchor: &str) -> String {
    let plain = (1..=64).contains(&anchor.len())
        && anchor
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if plain {
        return format!("at-{anchor}");
    }
    let digest = Sha256::digest(anchor.as_bytes());
    // A plain anchor has no tilde, so the two kinds cannot meet.
    format!("at~{}", hex::encode(&digest[..16]))
}
