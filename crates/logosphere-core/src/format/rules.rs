//! Rules that differ between versions of the journal's format.

/// The rules of one `schema_version`. A run is recorded, verified, replayed and resumed by those of its first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a version has a rule or has it not"
)]
pub(crate) struct Rules {
    /// Text after the end of an answer counts as lost.
    pub counts_text_after_end: bool,
    /// A signature contains no invisible characters.
    pub refuses_hidden_signatures: bool,
    /// The server's word for the end of an answer and notes of attempts are recorded, and the meter counts refusals.
    pub records_finish: bool,
    /// The number and the length of messages of one answer have a cap.
    pub caps_messages: bool,
    /// Sums of tokens stay within the integers that a 64-bit float represents exactly.
    pub sums_fit_floats: bool,
}

impl Rules {
    pub(crate) fn of(schema_version: u32) -> Self {
        let second = schema_version >= 2;
        Self {
            counts_text_after_end: second,
            refuses_hidden_signatures: second,
            records_finish: second,
            caps_messages: second,
            sums_fit_floats: second,
        }
    }

    /// Adds numbers of tokens; the sum stops at the largest that these rules write.
    pub(crate) fn add_tokens(self, a: u64, b: u64) -> u64 {
        let most = if self.sums_fit_floats {
            (1 << f64::MANTISSA_DIGITS) - 1
        } else {
            u64::MAX
        };
        a.saturating_add(b).min(most)
    }
}
