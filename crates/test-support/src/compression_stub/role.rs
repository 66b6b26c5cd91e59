use serde_json::Value;

/// The role of a request to a [`super::CompressionStub`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StubRole {
    /// No role: a count of tokens.
    Count,
    /// Shortens a text.
    Encoder,
    /// Restores the text.
    Decoder,
    /// Compares the two.
    SemanticJudge,
    /// Judges the rules.
    ImplementabilityJudge,
    /// Scores by a prompt whose first line has the words "own measure".
    OwnJudge,
    /// Carries out an instruction.
    Executor,
    /// A system prompt without a known role.
    Unknown,
}

impl StubRole {
    /// The name in the statistics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Encoder => "encoder",
            Self::Decoder => "decoder",
            Self::SemanticJudge => "semantic_judge",
            Self::ImplementabilityJudge => "implementability_judge",
            Self::OwnJudge => "own_judge",
            Self::Executor => "executor",
            Self::Unknown => "unknown",
        }
    }

    /// The role by the first line of the prompt, which contains neither rules nor text.
    pub(super) fn of(system: &str) -> Self {
        let first = system.lines().next().unwrap_or_default();
        let role = [
            ("encoding agent", Self::Encoder),
            ("decoding agent", Self::Decoder),
            ("semantic preservation", Self::SemanticJudge),
            ("compare two texts", Self::SemanticJudge),
            ("for implementability", Self::ImplementabilityJudge),
            ("could use the encoding system", Self::ImplementabilityJudge),
            ("own measure", Self::OwnJudge),
            ("carry out instructions", Self::Executor),
        ];
        let found = role.into_iter().find(|(words, _)| first.contains(words));
        found.map_or(Self::Unknown, |(_, role)| role)
    }

    pub(super) fn is_judge(self) -> bool {
        matches!(
            self,
            Self::SemanticJudge | Self::ImplementabilityJudge | Self::OwnJudge
        )
    }

    /// The number of calls that an experiment makes after the reply to this one.
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

/// The user's text without the frame of a prompt profile.
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
