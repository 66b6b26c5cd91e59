use serde::{Deserialize, Serialize};

/// One text to be encoded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Unique in its dataset, 1 to 128 characters, no control characters.
    pub id: String,
    /// The text.
    pub text: String,
    /// What carrying out the text gives, if it is an instruction with one result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<String>,
    /// Why that is its result, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What kind of text it is, in the dataset's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}
