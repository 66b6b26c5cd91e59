//! Places of a page that links lead to.

use std::cell::Cell as Slot;
use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// The anchors of a page while it is rendered, and the numbers of its own ids.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    known: BTreeSet<String>,
    used: Slot<usize>,
}

impl Anchors {
    /// Takes up a place.
    pub(crate) fn add(&mut self, anchor: &str) -> Result<(), Error> {
        if self.known.insert(anchor.to_owned()) {
            Ok(())
        } else {
            Err(Error::DuplicateAnchor {
                anchor: anchor.to_owned(),
            })
        }
    }

    /// The address of a place of this page.
    pub(crate) fn href(&self, anchor: &str) -> Result<String, Error> {
        if self.known.contains(anchor) {
            Ok(format!("#{}", id(anchor)))
        } else {
            Err(Error::UnknownAnchor {
                anchor: anchor.to_owned(),
            })
        }
    }

    /// An id that no place has, the next of the page's own.
    pub(crate) fn fresh(&self) -> String {
        let next = self.used.get() + 1;
        self.used.set(next);
        format!("kit-{next}")
    }
}

/// The id of a place: its anchor where that is plain, so that an address with it can be read and stays the same; else
/// digits. The prefix keeps it apart from the page's own ids and from names that mean something to a script.
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
