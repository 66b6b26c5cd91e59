//! The places outside that texts come from.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The longest text of an origin that is kept, in characters. An address may be of any length.
const LONGEST: usize = 500;
/// The largest number of further origins that is read from a file.
const MOST_COUNTED: u64 = 1 << 32;

/// A place outside that a text comes from. The person, the model and the program itself are not such places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// A page of the web, or a search.
    Web {
        /// The address, or the name of the search.
        url: String,
    },
    /// A file in a folder that the person granted.
    File {
        /// The name of the folder.
        root: String,
        /// The path in it.
        path: String,
    },
    /// A value of the key-value store.
    Store {
        /// The key.
        key: String,
    },
    /// A tool of another program.
    Server {
        /// The name of the server.
        name: String,
    },
    /// A program that edits blocks from outside.
    Client {
        /// The name of the program.
        name: String,
    },
    /// An import from another store or an earlier generation.
    Import {
        /// The name of the source.
        source: String,
    },
    /// A face.
    Face {
        /// The revision of the face.
        rev: u64,
    },
}

impl Origin {
    /// The texts of the origin.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (first, second) = match self {
            Self::Web { url: text }
            | Self::Store { key: text }
            | Self::Server { name: text }
            | Self::Client { name: text }
            | Self::Import { source: text } => (Some(text), None),
            Self::File { root, path } => (Some(root), Some(path)),
            Self::Face { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The word of the mark that a model reads.
    fn word(&self) -> &'static str {
        match self {
            Self::Web { .. } => "web",
            Self::File { .. } => "file",
            Self::Store { .. } | Self::Server { .. } => "tool",
            Self::Client { .. } => "client",
            Self::Import { .. } => "import",
            Self::Face { .. } => "face",
        }
    }

    /// The origin with texts that are not too long to be kept.
    fn clipped(mut self) -> Self {
        for text in self.texts_mut() {
            if let Some((end, _)) = text.char_indices().nth(LONGEST) {
                text.truncate(end);
                text.push('…');
            }
        }
        self
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web { url } => write!(f, "web {url}"),
            Self::File { root, path } => write!(f, "file {root}/{path}"),
            Self::Store { key } => write!(f, "store {key}"),
            Self::Server { name } => write!(f, "server {name}"),
            Self::Client { name } => write!(f, "client {name}"),
            Self::Import { source } => write!(f, "import {source}"),
            Self::Face { rev } => write!(f, "face {rev}"),
        }
    }
}

/// The origins of a text: the first 8, and the least number of further ones.
///
/// In JSON it is a list of origins, at whose end `{"more": 3}` says that there are at least three others.
///
/// ```
/// use pscale_blocks::store::{Origin, Origins};
///
/// let page = Origins::from(Origin::Web { url: "https://example.org".to_owned() });
/// let face = Origins::from(Origin::Face { rev: 2 });
/// let both = Origins::union([&page, &face, &page]);
/// assert_eq!((both.listed().len(), both.more()), (2, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "FoundOrigins", into = "Vec<OriginRow>")]
pub struct Origins {
    listed: Vec<Origin>,
    more: u64,
}

/// A row of the list that origins are in JSON.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, from = "FoundRow")]
pub(super) enum OriginRow {
    More { more: u64 },
    Listed(Origin),
}

/// A row as it is read. An origin of a kind that a later program knows is one more.
#[derive(Deserialize)]
#[serde(untagged)]
enum FoundRow {
    More { more: u64 },
    Listed(Origin),
    Unknown(IgnoredAny),
}

/// A list as it is read. Anything else is one origin that is not known: the rest of its line stays readable.
#[derive(Deserialize)]
#[serde(untagged)]
enum FoundOrigins {
    Rows(Vec<OriginRow>),
    Unknown(IgnoredAny),
}

impl From<FoundOrigins> for Origins {
    fn from(found: FoundOrigins) -> Self {
        match found {
            FoundOrigins::Rows(rows) => rows.into(),
            FoundOrigins::Unknown(IgnoredAny) => Self::unknown(),
        }
    }
}

impl From<FoundRow> for OriginRow {
    fn from(found: FoundRow) -> Self {
        match found {
            FoundRow::More { more } => Self::More {
                more: more.min(MOST_COUNTED),
            },
            FoundRow::Listed(origin) => Self::Listed(origin.clipped()),
            FoundRow::Unknown(IgnoredAny) => Self::More { more: 1 },
        }
    }
}

impl Origins {
    /// The most origins that are listed.
    pub const MOST: usize = 8;

    /// Whether the text comes from the person, the model or the program alone.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }

    /// The origins that are known by name, the first one first.
    pub fn listed(&self) -> &[Origin] {
        &self.listed
    }

    /// The least number of further origins.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// The mark for a model after a text with these origins: ` ~web`, or ` ~web+` if there are several. Empty without any.
    pub fn mark(&self) -> String {
        let several = self.listed.len() > 1 || self.more > 0;
        let end = if several { "+" } else { "" };
        match self.listed.first() {
            Some(first) => format!(" ~{}{end}", first.word()),
            None if several => " ~tool+".to_owned(),
            None => String::new(),
        }
    }

    /// All origins of several texts.
    pub fn union<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut more = 0;
        let origins = sets.into_iter().flat_map(|set| {
            more = set.more.max(more);
            &set.listed
        });
        let all = Self::list(origins);
        all.with_more(more)
    }

    /// Lists the first origins and counts the others, none twice.
    fn list<O: Borrow<Origin> + Ord>(origins: impl IntoIterator<Item = O>) -> Self {
        let mut listed = Vec::new();
        let mut all = BTreeSet::new();
        for origin in origins {
            let found: &Origin = origin.borrow();
            if listed.len() < Self::MOST && !all.contains(found) {
                listed.push(found.clone());
            }
            all.insert(origin);
        }
        let more = (all.len() - listed.len()) as u64;
        Self { listed, more }
    }

    /// The origins with at least this number of further ones. A sum could count an origin twice, and would grow with each union.
    fn with_more(self, more: u64) -> Self {
        let more = self.more.max(more);
        Self { more, ..self }
    }

    /// One origin that is not known by name.
    pub fn unknown() -> Self {
        Self::default().with_more(1)
    }

    /// The texts of the origins.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.listed.iter_mut().flat_map(Origin::texts_mut)
    }
}

impl From<Origin> for Origins {
    fn from(origin: Origin) -> Self {
        Self::from_iter([origin])
    }
}

impl FromIterator<Origin> for Origins {
    fn from_iter<I: IntoIterator<Item = Origin>>(origins: I) -> Self {
        Self::list(origins.into_iter().map(Origin::clipped))
    }
}

impl From<Vec<OriginRow>> for Origins {
    fn from(rows: Vec<OriginRow>) -> Self {
        let mut more = 0;
        let listed = rows.into_iter().filter_map(|row| match row {
            OriginRow::Listed(origin) => Some(origin),
            OriginRow::More { more: found } => {
                more = more.max(found);
                None
            }
        });
        let all: Self = listed.collect();
        all.with_more(more)
    }
}

impl From<Origins> for Vec<OriginRow> {
    fn from(origins: Origins) -> Self {
        let Origins { listed, more } = origins;
        let more = (more > 0).then_some(OriginRow::More { more });
        listed
            .into_iter()
            .map(OriginRow::Listed)
            .chain(more)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face(rev: u64) -> Origin {
        Origin::Face { rev }
    }

    #[test]
    fn eight_are_listed_and_the_others_are_counted() {
        let many: Origins = (1..=11).map(face).collect();
        assert_eq!((many.listed().len(), many.more()), (8, 3));
        // It is the same set however often it is put together.
        assert_eq!(Origins::union([&many, &many]), many);
        let one = Origins::from(face(20));
        assert_eq!(Origins::union([&many, &one]).more(), 3);
        let few: Origins = (1..=8).map(face).collect();
        assert_eq!(Origins::union([&few, &one, &one]).more(), 1);
        assert!(Origins::union([]).is_empty());
    }

    #[test]
    fn a_mark_names_the_first_origin_and_has_a_plus_for_others() {
        let key = "seen".to_owned();
        let value = Origins::from(Origin::Store { key });
        let both = Origins::union([&value, &face(2).into()]);
        let none = Origins::default();
        let marks = [&none, &value, &both].map(Origins::mark);
        assert_eq!(marks, ["", " ~tool", " ~tool+"]);
    }

    #[test]
    fn a_list_in_json_is_read_whatever_is_in_it() {
        let many: Origins = (1..=9).map(face).collect();
        let json = serde_json::to_string(&many).unwrap();
        assert!(
            json.ends_with(r#"{"face":{"rev":8}},{"more":1}]"#),
            "{json}"
        );
        let read = |json: &str| serde_json::from_str::<Origins>(json);
        assert_eq!(read(&json).unwrap(), many);
        let rows: Vec<_> = (1..=12).map(face).collect();
        let long = read(&serde_json::to_string(&rows).unwrap()).unwrap();
        assert_eq!((long.listed().len(), long.more()), (8, 4));
        assert_eq!(read(r#"[{"more":2}]"#).unwrap().more(), 2);
        // A later program may know other kinds.
        let later = read(r#"[{"moon":{"rev":8}},{"face":{"rev":9}}]"#).unwrap();
        assert_eq!((later.listed(), later.more()), (&[face(9)][..], 1));
        for other in [r#"{"moon":8}"#, "null", "8", r#""page""#] {
            assert_eq!(read(other).unwrap(), Origins::unknown(), "{other}");
        }
        let greatest = format!(r#"[{{"face":{{"rev":9}}}},{{"more":{}}}]"#, u64::MAX);
        assert_eq!(read(&greatest).unwrap().more(), MOST_COUNTED);
        let url = "é".repeat(9_000);
        let page = Origins::from(Origin::Web { url });
        assert_eq!(page.listed()[0].to_string().chars().count(), 505);
    }

    /// Comparisons of all with all would take minutes.
    #[test]
    fn a_list_of_a_million_origins_is_read() {
        let many: Origins = (0..1_000_000).map(face).collect();
        assert_eq!((many.listed().len(), many.more()), (8, 999_992));
        let sets: Vec<Origins> = (0..1_000_000).map(|rev| face(rev).into()).collect();
        assert_eq!(Origins::union(&sets), many);
    }
}
