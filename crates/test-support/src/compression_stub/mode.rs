use std::str::FromStr;

/// The fault of a [`super::CompressionStub`]. Counts are correct except for [`Self::Count404`] and [`Self::E401`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StubMode {
    /// No fault.
    #[default]
    Ok,
    /// Judges put their object between fences.
    Fenced,
    /// 400 if the last turn is the assistant's.
    E400Prefill,
    /// As [`Self::Fenced`], marked `JSON` in capitals.
    FencedUpper,
    /// Judges talk before the object, and name a scale.
    Prose,
    /// Judges return no object.
    NoJson,
    /// The judges' object has no score.
    NoScore,
    /// The encoder refuses.
    RefusalEncode,
    /// Every reply is cut by its limit.
    MaxTokens,
    /// The decoder refuses.
    RefusalDecode,
    /// The decoder returns no text.
    EmptyDecode,
    /// 404 for counts.
    Count404,
    /// 401 for everything.
    E401,
    /// 429 for the first call of each role.
    E429Once,
    /// 500 for the first call of each role.
    E500Once,
    /// The connection ends without an answer at the first call of each role.
    DropOnce,
    /// The status 429.
    E429Always,
    /// The status 529.
    E529Always,
    /// A success whose JSON is cut.
    BadJson,
    /// A success that holds the error object of an overloaded server.
    Error200,
    /// A success that is a page for people.
    Html,
    /// 402: the account has no money left.
    Quota,
    /// 404: there is no such model.
    NoModel,
}

const NAMES: [(StubMode, &str); 23] = [
    (StubMode::Ok, "ok"),
    (StubMode::Fenced, "fenced"),
    (StubMode::E400Prefill, "e400_prefill"),
    (StubMode::FencedUpper, "fenced_upper"),
    (StubMode::Prose, "prose"),
    (StubMode::NoJson, "nojson"),
    (StubMode::NoScore, "noscore"),
    (StubMode::RefusalEncode, "refusal_encode"),
    (StubMode::MaxTokens, "max_tokens"),
    (StubMode::RefusalDecode, "refusal_decode"),
    (StubMode::EmptyDecode, "empty_decode"),
    (StubMode::Count404, "count_404"),
    (StubMode::E401, "e401"),
    (StubMode::E429Once, "e429_once"),
    (StubMode::E500Once, "e500_once"),
    (StubMode::DropOnce, "drop_once"),
    (StubMode::E429Always, "e429_always"),
    (StubMode::E529Always, "e529_always"),
    (StubMode::BadJson, "badjson"),
    (StubMode::Error200, "error_200"),
    (StubMode::Html, "html"),
    (StubMode::Quota, "quota"),
    (StubMode::NoModel, "no_model"),
];

impl StubMode {
    /// Every mode, in the order of declaration.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.into_iter().map(|(mode, _)| mode)
    }

    /// The name in `__reset?mode=`.
    pub fn as_str(self) -> &'static str {
        let named = NAMES.into_iter().find(|(mode, _)| *mode == self);
        named.expect("every mode has a name").1
    }
}

impl FromStr for StubMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = NAMES.into_iter().find(|(_, known)| *known == name);
        let unknown = || format!("no mode is named {name:?}");
        named.map(|(mode, _)| mode).ok_or_else(unknown)
    }
}
