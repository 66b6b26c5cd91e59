//! Receipts of summaries, computed from a block each time: a stored one could be out of step with its texts.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use atoms::cover;
use pscale_blocks::{Block, NodeLine, Path, TokenCounter};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The most characters of a fact.
const MOST_CHARS: usize = 80;
/// The most facts and paths in the answer to a model.
const MOST_ANSWERED: usize = 12;
/// The most paths and tokens in a prompt's line.
const MOST_PATHS: usize = 3;
const MOST_TOKENS: usize = 20;
/// The most bytes of parts that are compared while a program waits for it: some 10,000 words, a tenth of a second.
const MOST_BYTES: usize = 64 << 10;
/// The most receipts in memory. A prompt shows some twenty summaries.
const MOST_KEPT: usize = 256;

/// The facts of the texts below a summary that it keeps, has lost or has added: identifiers, dates, numbers, names and negations.
///
/// The texts below are those of the node's children 1 to 9, and of the entries of a group that has no summary yet; those of entries
/// with all that is below them. So a summary of summaries is compared with summaries. Negations, and months and numbers in words,
/// are found in English texts only. Paths of blocks, such as `0.2.1`, and numbers of files of the earlier generation,
/// such as `M-12`, are not facts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The number of facts that the summary keeps.
    pub kept: usize,
    /// The facts that it has lost, each with the first path at which it is.
    pub lost: Vec<SummaryFact>,
    /// The facts that are in none of the texts below.
    pub added: Vec<SummaryFact>,
}

/// A fact of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SummaryFact {
    /// The name of its kind: `identifier`, `date`, `number`, `name` or `negation`.
    pub kind: &'static str,
    /// The fact as it is written, at most 80 characters.
    pub text: String,
    /// The node below the summary, for a fact that is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
}

impl Receipt {
    /// The receipt of a summary in a block. `None` for a node that is not a summary: the head, an entry and what is below it, and
    /// a node without a text or without children.
    pub fn read(block: &Block, path: &Path) -> Option<Self> {
        let (parts, text) = summary(block, path)?;
        Some(Self::compare(block, &parts, text))
    }

    /// [`Receipt::read`], and also `None` if there is so much text below the summary that it takes long: over 64 KiB.
    pub fn quick(block: &Block, path: &Path) -> Option<Self> {
        let (parts, text) = summary(block, path)?;
        is_quick(&parts).then(|| Self::compare(block, &parts, text))
    }

    /// The receipt that a text would have as the summary of what is below a node. `None` if that is over 64 KiB.
    pub(crate) fn draft(block: &Block, path: &Path, text: &str) -> Option<Self> {
        let parts = parts(block, path);
        is_quick(&parts).then(|| Self::compare(block, &parts, text))
    }

    /// The summaries of a block with their receipts, the widest first.
    pub fn all(block: &Block) -> Vec<(Path, Self)> {
        let widths = (0..i32::from(block.decimal())).rev();
        let nodes = widths.flat_map(|pscale| block.level(pscale));
        nodes
            .filter_map(|node| Some((node.path, Self::read(block, &node.path)?)))
            .collect()
    }

    fn compare(block: &Block, parts: &[NodeLine], text: &str) -> Self {
        let texts: Vec<_> = parts
            .iter()
            .filter_map(|part| part.text.as_deref())
            .collect();
        // The first word of a sentence is a name only where another place has it.
        let covered = cover(&texts, text, &|_: &str| true);
        let fact = |fact: &atoms::Fact, text: &str, path| {
            let written = &text[fact.span.clone()];
            (!is_label(block, written)).then(|| SummaryFact {
                kind: fact.kind.name(),
                text: written.chars().take(MOST_CHARS).collect(),
                path,
            })
        };
        let below =
            |(part, it): &(usize, atoms::Fact)| fact(it, texts[*part], Some(parts[*part].path));
        Self {
            kept: covered.kept.iter().filter_map(below).count(),
            lost: covered.lost.iter().filter_map(below).collect(),
            added: covered
                .added
                .iter()
                .filter_map(|it| fact(it, text, None))
                .collect(),
        }
    }

    /// The paths at which the lost facts are.
    pub fn lost_at(&self) -> Vec<Path> {
        let paths: BTreeSet<_> = self.lost.iter().filter_map(|fact| fact.path).collect();
        paths.into_iter().collect()
    }

    /// The numbers and the paths, for an answer.
    pub(crate) fn answer(&self) -> Value {
        let mut paths = self.lost_at();
        paths.truncate(MOST_ANSWERED);
        json!({
            "kept": self.kept,
            "lost": self.lost.len(),
            "added": self.added.len(),
            "lost_at": paths,
        })
    }

    /// The answer in the place of writing a summary that adds facts.
    pub(crate) fn question(&self) -> Value {
        let added: Vec<_> = self.added.iter().map(|fact| &fact.text).collect();
        let lost: Vec<_> = self
            .lost
            .iter()
            .take(MOST_ANSWERED)
            .map(|fact| json!({"fact": fact.text, "path": fact.path}))
            .collect();
        json!({
            "written": false,
            "added": &added[..added.len().min(MOST_ANSWERED)],
            "lost": lost,
            "hint": "these are in none of the entries: correct the summary, or send it again unchanged",
        })
    }

    /// The end of a prompt's line: ` (lost 10: 0.2.1 0.2.3 0.2.5 +4)`, at most 20 tokens. It is empty if nothing was lost.
    fn suffix(&self, tokens: &dyn TokenCounter) -> String {
        if self.lost.is_empty() {
            return String::new();
        }
        let paths = self.lost_at();
        let lost = self.lost.len();
        let shown = |most| match first_paths(&paths, most) {
            list if list.is_empty() => format!(" (lost {lost})"),
            list => format!(" (lost {lost}: {list})"),
        };
        let counts = (0..=paths.len().min(MOST_PATHS)).rev();
        let mut texts = counts.map(shown);
        texts
            .find(|text| tokens.count(text) <= MOST_TOKENS)
            .unwrap_or_default()
    }
}

/// The numbers and the first paths: `kept 2, lost 10 (0.2.1 0.2.3 0.2.5 +4), added 0`.
impl std::fmt::Display for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kept {}, lost {}", self.kept, self.lost.len())?;
        let list = first_paths(&self.lost_at(), MOST_PATHS);
        if !list.is_empty() {
            write!(f, " ({list})")?;
        }
        write!(f, ", added {}", self.added.len())
    }
}

/// A number of paths at most, and the count of the others: `0.2.1 0.2.3 +4`. It is empty if it has no path.
fn first_paths(paths: &[Path], most: usize) -> String {
    let mut words: Vec<_> = paths.iter().take(most).map(ToString::to_string).collect();
    let others = paths.len() - words.len();
    if others > 0 && !words.is_empty() {
        words.push(format!("+{others}"));
    }
    words.join(" ")
}

/// The end of the line of a summary in a prompt; of all other nodes nothing. What was computed for the same texts is kept.
pub(super) fn suffix(block: &Block, path: &Path, tokens: &dyn TokenCounter) -> String {
    static KEPT: LazyLock<Mutex<HashMap<[u8; 32], Arc<Receipt>>>> = LazyLock::new(Mutex::default);
    let Some((parts, text)) = summary(block, path) else {
        return String::new();
    };
    if !is_quick(&parts) {
        return String::new();
    }
    let mut hash = Sha256::new();
    // The nodes that a fact such as `0.2` may name.
    let is_node =
        |digit: u8| Path::from_digits([0, digit]).is_ok_and(|path| block.text(&path).is_ok());
    hash.update(
        (0..=9)
            .map(|digit| u8::from(is_node(digit)))
            .collect::<Vec<_>>(),
    );
    let mut add = |path: &Path, text: &str| {
        for bytes in [path.to_string().as_bytes(), text.as_bytes()] {
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        }
    };
    add(path, text);
    for part in &parts {
        add(&part.path, part.text.as_deref().unwrap_or_default());
    }
    let key = hash.finalize().into();
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = kept().get(&key).cloned();
    let receipt = known.unwrap_or_else(|| {
        let receipt = Arc::new(Receipt::compare(block, &parts, text));
        let mut kept = kept();
        if kept.len() == MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, receipt.clone());
        receipt
    });
    receipt.suffix(tokens)
}

/// The texts below a summary, and the summary.
fn summary<'a>(block: &'a Block, path: &Path) -> Option<(Vec<NodeLine>, &'a str)> {
    let head = block.head();
    if *path == head || !head.holds(path) || block.pscale(path) < 0 {
        return None;
    }
    let text = block.text(path).ok()??;
    let parts = parts(block, path);
    (!parts.is_empty()).then_some((parts, text))
}

fn is_quick(parts: &[NodeLine]) -> bool {
    let sizes = parts.iter().filter_map(|part| part.text.as_ref());
    sizes.map(String::len).sum::<usize>() <= MOST_BYTES
}

/// The texts of the children 1 to 9, or of a child without one, a group that is not full yet, those below it; those of entries
/// with all that is below them.
fn parts(block: &Block, path: &Path) -> Vec<NodeLine> {
    let are_groups = block.pscale(path) > 0;
    let mut below = block
        .subtree(path, are_groups.then_some(1))
        .unwrap_or_default();
    below.retain(|node| {
        let digit = node.path.digits().get(path.depth());
        digit.is_some_and(|digit| *digit != 0)
    });
    let texts = below.into_iter().flat_map(|node| match node.text {
        None if are_groups => parts(block, &node.path),
        None => Vec::new(),
        Some(_) => vec![node],
    });
    texts.collect()
}

/// Whether a fact only says where something is: a path of three digits and more, or one of this block; or a numbered file of the
/// earlier generation.
fn is_label(block: &Block, fact: &str) -> bool {
    let is_file = |number: &str| {
        (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    if let Some(number) = fact.strip_prefix("M-").or_else(|| fact.strip_prefix("S-")) {
        return is_file(number);
    }
    let digits = fact.split('.');
    let is_digit = |part: &str| part.len() == 1 && part.as_bytes()[0].is_ascii_digit();
    if !fact.starts_with("0.") || !digits.clone().all(is_digit) {
        return false;
    }
    let is_node = |path: &Path| block.text(path).is_ok();
    digits.count() > 2 || fact.parse().is_ok_and(|path| is_node(&path))
}
