use super::case::checked_id;
use super::record::{DatasetRecord, read};
use super::{Case, CaseError, CaseFormat, CaseProblem};
use crate::judge::score::{MAX_IMPLEMENTABILITY, MAX_SEMANTIC, TokenPair};
use crate::text::setters::setters;

/// The system of samples that name none.
const DEFAULT_ENCODING_ID: &str = "given";

/// A text that was encoded and decoded somewhere else, to be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundTripSample {
    /// The original text.
    pub case: Case,
    /// The system that encoded it; the same text may come from several.
    pub encoding_id: String,
    /// The encoded text.
    pub encoded_text: String,
    /// The decoded text.
    pub decoded_text: String,
    /// The rules, if they are known.
    pub encoding_system: Option<String>,
    /// Both token numbers, neither negative; `None` if the engine has to count.
    pub tokens: Option<TokenPair>,
    /// A judge's points for the meaning, 0 to 40.
    pub semantic_score: Option<u8>,
    /// A judge's points for the rules, 0 to 5.
    pub implementability_score: Option<u8>,
}

impl RoundTripSample {
    /// A sample of the system `given`, whose rules, tokens and points are not known.
    pub fn new(case: Case, encoded: impl Into<String>, decoded: impl Into<String>) -> Self {
        Self {
            case,
            encoding_id: DEFAULT_ENCODING_ID.to_owned(),
            encoded_text: encoded.into(),
            decoded_text: decoded.into(),
            encoding_system: None,
            tokens: None,
            semantic_score: None,
            implementability_score: None,
        }
    }

    setters! {
        encoding_id: String,
        encoding_system: Option<String>,
        tokens: Option<TokenPair>,
        semantic_score: Option<u8>,
        implementability_score: Option<u8>,
    }
}

/// The samples of a file, and everything that is wrong with it; as [`parse_cases`](super::parse_cases) with the fields
/// `encodedText`, `decodedText`, `encodingId` (`given` if it is absent), `encodingSystem`, `originalTokens`, `encodedTokens`,
/// `semanticScore` and `implementabilityScore`. One of them in another spelling, such as `semantic_score`, is an error. An id is unique within its `encodingId`.
///
/// ```
/// use zer0gravity_engine::dataset::{CaseFormat, parse_samples};
/// use zer0gravity_engine::judge::score::TokenPair;
/// let file = b"id,text,encodedText,decodedText,originalTokens,encodedTokens\n1,Hello,Hll,Hello,8,9\n2,a,b,c,5,\n";
/// let (samples, errors) = parse_samples(file, CaseFormat::Csv, "t.csv");
/// assert_eq!(samples[0].tokens, Some(TokenPair { original: 8, encoded: 9 }));
/// assert_eq!(errors[0].to_string(), "t.csv:3: `originalTokens` without `encodedTokens`; give both or neither");
/// ```
pub fn parse_samples(
    bytes: &[u8],
    format: CaseFormat,
    name: &str,
) -> (Vec<RoundTripSample>, Vec<CaseError>) {
    const REQUIRED: [&str; 3] = ["text", "encodedText", "decodedText"];
    const OPTIONAL: [&str; 6] = [
        "encodingId",
        "encodingSystem",
        "originalTokens",
        "encodedTokens",
        "semanticScore",
        "implementabilityScore",
    ];
    let key = |sample: &RoundTripSample| (sample.encoding_id.clone(), sample.case.id.clone());
    read(bytes, format, name, &REQUIRED, key, |record, case| {
        record.check_spelling(&OPTIONAL)?;
        Ok(RoundTripSample {
            case,
            encoding_id: encoding_id(record)?,
            encoded_text: record.required("encodedText")?,
            decoded_text: record.required("decodedText")?,
            encoding_system: record.text("encodingSystem")?,
            tokens: tokens(record)?,
            semantic_score: points(record, "semanticScore", MAX_SEMANTIC)?,
            implementability_score: points(record, "implementabilityScore", MAX_IMPLEMENTABILITY)?,
        })
    })
}

fn encoding_id(record: &DatasetRecord) -> Result<String, CaseProblem> {
    let given = record.text("encodingId")?;
    match given {
        Some(id) => checked_id("encodingId", id),
        None => Ok(DEFAULT_ENCODING_ID.to_owned()),
    }
}

fn tokens(record: &DatasetRecord) -> Result<Option<TokenPair>, CaseProblem> {
    const ORIGINAL: &str = "originalTokens";
    const ENCODED: &str = "encodedTokens";
    // Up to here an `f64`, in which the score is computed, holds every integer.
    const MAX: u64 = 1 << 53;
    let one = |present, absent| Err(CaseProblem::OneTokenNumber { present, absent });
    match (record.whole(ORIGINAL, MAX)?, record.whole(ENCODED, MAX)?) {
        (Some(original), Some(encoded)) => Ok(Some(TokenPair {
            original: original as i64,
            encoded: encoded as i64,
        })),
        (None, None) => Ok(None),
        (Some(_), None) => one(ORIGINAL, ENCODED),
        (None, Some(_)) => one(ENCODED, ORIGINAL),
    }
}

fn points(record: &DatasetRecord, field: &'static str, max: u8) -> Result<Option<u8>, CaseProblem> {
    Ok(record.whole(field, max.into())?.map(|points| points as u8))
}
