//! The claim of a law without its horizon, which is what a proof proves.

use popper_harness::law::NormalLaw;

/// A claim for every horizon T.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimelessClaim {
    /// The value of [`NormalLaw::claim_fingerprint`].
    pub fingerprint: String,
    /// The window H of `eventually`, in steps; 0 for another template.
    pub h: u64,
}

impl TimelessClaim {
    pub(crate) fn of(law: &NormalLaw) -> Self {
        Self {
            fingerprint: law.claim_fingerprint(),
            h: law.window.unwrap_or(0),
        }
    }
}
