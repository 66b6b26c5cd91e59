use serde_json::Value;

/// Whom a request to a [`super::CompressionStub`] is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StubRole {
    /// Nobody: tokens are counted.
    Count,
    /// Shortens a text.
    Encoder,
    /// Makes the text again.
    Decoder,
    /// Compares the two.
    SemanticJudge,
    /// Judges the rules.
    ImplementabilityJudge,
    /// Carries out an instruction.
    Executor,
    /// The system prompt does not tell.
    Unknown,
}

impl StubRole {
    /// As it is named in the statistics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Encoder => "encoder",
            Self::Decoder => "decoder",
            Self::SemanticJudge => "semantic_judge",
            Self::ImplementabilityJudge => "implementability_judge",
            Self::Executor => "executor",
            Self::Unknown => "unknown",
        }
    }

    /// Told from the first line, which no rules and no text can stand in.
    pub(super) fn of(system: &str) -> Self {
        let first = system.lines().next().unwrap_or_default();
        let role = [
            ("encoding agent", Self::Encoder),
            ("decoding agent", Self::Decoder),
            ("semantic preservation", Self::SemanticJudge),
            ("compare two texts", Self::SemanticJudge),
            ("for implementability", Self::ImplementabilityJudge),
            ("could use the encoding system", Self::ImplementabilityJudge),
            ("carry out instructions", Self::Executor),
        ];
        let found = role.into_iter().find(|(words, _)| first.contains(words));
        found.map_or(Self::Unknown, |(_, role)| role)
    }

    pub(super) fn is_judge(self) -> bool {
        matches!(self, Self::SemanticJudge | Self::ImplementabilityJudge)
    }

    /// How many calls an experiment makes when it has the reply to this one.
    pub(super) fn calls_after(self) -> usize {
        match self {
            // Two counts, the encoding and the decoding follow each other, and both judges the decoding.
            Self::Count | Self::Encoder => 1,
            Self::Decoder => 2,
            _ => 0,
        }
    }
}

/// The text of a system prompt or of a message's content.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|one| one["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// What the user hands over, without what a profile of prompts writes around it.
pub(super) fn handed(role: StubRole, user: &str) -> &str {
    let name = match role {
        StubRole::Encoder => "TEXT",
        StubRole::Decoder => "ENCODED TEXT",
        _ => return user,
    };
    // `guarded`: every part between lines with a number.
    if user.starts_with("[ENCODING SYSTEM ") {
        let begin = format!("\n[{name} ");
        let inner = user
            .split_once(&begin)
            .and_then(|(_, rest)| rest.split_once("]\n"));
        let inner = inner.and_then(|(_, rest)| rest.rsplit_once("\n[END OF "));
        return inner.map_or(user, |(text, _)| text);
    }
    // `bands`: the decoder gets the rules with the text.
    if role == StubRole::Decoder && user.starts_with("ENCODING SYSTEM:\n") {
        let parts = user.rsplit_once("\n\nENCODED TEXT:\n");
        return parts.map_or(user, |(_, text)| text);
    }
    user
}
