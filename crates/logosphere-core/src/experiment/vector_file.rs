//! The form of a file of vectors: a line with the encoder, and a record for each text.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::ExperimentError;
use crate::measures::embedding::{Embeddings, Encoder, PROBES, TextHash};

/// The longest first line in bytes, with its end.
const HEADER: u64 = 64_000;
/// The largest number of numbers in a vector.
const DIMS: usize = 100_000;
/// The number of digits of the encoder's hash in the name of its file.
const DIGITS: usize = 16;
/// The ending of a file that commands read, and that of one that will replace it.
pub(super) const KEPT: &str = "bin";
pub(super) const FRESH: &str = "fresh";

/// Returns the files with this ending in a folder that may not exist, in the order of their names.
pub(super) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, ExperimentError> {
    let failed = |source| ExperimentError::Read {
        path: folder.to_owned(),
        source,
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the name of an encoder's file with this ending.
pub(super) fn file_name(encoder: &Encoder, ending: &str) -> String {
    let digits = encoder.sha256.get(..DIGITS).unwrap_or_default();
    format!("{digits}.{ending}")
}

/// Returns the first line of a file.
pub(super) fn header(encoder: &Encoder) -> Vec<u8> {
    // A Vec takes everything, and an encoder has no maps.
    let mut line = serde_json::to_vec(encoder).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Adds the record of a text.
pub(super) fn write_record(bytes: &mut Vec<u8>, text: &TextHash, vector: &[f32]) {
    bytes.extend_from_slice(text);
    bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
}

/// The reason why bytes are not a file of vectors.
#[derive(Debug)]
pub(super) enum VectorProblem {
    /// The content is wrong.
    Content(String),
    /// The bytes cannot be read.
    System(io::Error),
}

impl VectorProblem {
    /// Returns the error of the file at `path`.
    pub(super) fn of_file(self, path: &Path) -> ExperimentError {
        let path = path.to_owned();
        match self {
            Self::Content(why) => ExperimentError::VectorFile { path, why },
            Self::System(source) => ExperimentError::Read { path, source },
        }
    }
}

impl From<io::Error> for VectorProblem {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<String> for VectorProblem {
    fn from(why: String) -> Self {
        Self::Content(why)
    }
}

/// A file of vectors whose first line was read.
pub(super) struct VectorReader<R> {
    bytes: R,
    pub(super) encoder: Encoder,
    /// The bytes that were read.
    read: u64,
}

/// The complete records of a file.
pub(super) struct VectorRecords {
    pub(super) embeddings: Embeddings,
    /// The bytes of the first line and of the complete records.
    pub(super) whole: u64,
    /// The bytes of the incomplete last record.
    pub(super) torn: u64,
}

impl VectorReader<BufReader<File>> {
    /// Opens a file; `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, ExperimentError> {
        let opened = || -> Result<Self, VectorProblem> {
            // A pipe could be waited for without end.
            if !fs::metadata(path)?.is_file() {
                return Err("it is not a regular file".to_owned().into());
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Self::new(BufReader::new(File::open(path)?), &name)
        };
        match opened() {
            Ok(reader) => Ok(Some(reader)),
            Err(VectorProblem::System(error)) if error.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(problem) => Err(problem.of_file(path)),
        }
    }
}

impl<R: BufRead> VectorReader<R> {
    /// Reads the first line of a file with this name.
    pub(super) fn new(mut bytes: R, name: &str) -> Result<Self, VectorProblem> {
        let mut line = Vec::new();
        let read = bytes.by_ref().take(HEADER).read_until(b'\n', &mut line)? as u64;
        if line.pop() != Some(b'\n') {
            let found = if read == HEADER {
                format!("more than {HEADER} bytes")
            } else {
                "one without an end".to_owned()
            };
            return Err(format!("expected a first line with the encoder, got {found}").into());
        }
        let encoder: Encoder = serde_json::from_slice(&line).map_err(|error| {
            // A message may have a value of the line in it.
            let error: String = error.to_string().chars().take(200).collect();
            format!("expected the encoder in the first line: {error}")
        })?;
        if !(1..=DIMS).contains(&encoder.dims) {
            let dims = encoder.dims;
            return Err(format!("expected dims from 1 to {DIMS}, got {dims}").into());
        }
        let ending = if name.ends_with(FRESH) { FRESH } else { KEPT };
        let expected = file_name(&encoder, ending);
        if name != expected {
            return Err(format!("its encoder has the sha256 of a file {expected:?}").into());
        }
        Ok(Self {
            bytes,
            encoder,
            read,
        })
    }

    /// Reads the records. The first ones must be those of [`PROBES`], by which the encoder has its hash.
    pub(super) fn records(mut self) -> Result<VectorRecords, VectorProblem> {
        let mut record = vec![0; size_of::<TextHash>() + size_of::<f32>() * self.encoder.dims];
        let mut embeddings = Embeddings::new(self.encoder.clone());
        let mut probes: [Vec<f32>; PROBES.len()] = Default::default();
        let mut torn = 0;
        for number in 0.. {
            let read = read_full(&mut self.bytes, &mut record)?;
            if read < record.len() {
                torn = read as u64;
                break;
            }
            self.read += read as u64;
            let wrong = |why: String| format!("record {}: {why}", number + 1);
            let (text, numbers) = split(&record);
            if let Some((probe, expected)) = probes.get_mut(number).zip(PROBES.get(number)) {
                if text != Embeddings::hash(expected) {
                    return Err(wrong("expected the probe of this number".to_owned()).into());
                }
                probe.clone_from(&numbers);
            }
            if embeddings.get(&text).is_some() {
                return Err(wrong("its text has a vector already".to_owned()).into());
            }
            let inserted = embeddings.insert(text, numbers);
            inserted.map_err(|error| wrong(error.to_string()))?;
        }
        let found = embeddings.len();
        if found < PROBES.len() {
            let expected = PROBES.len();
            return Err(format!("expected the {expected} probes, got {found} records").into());
        }
        let Encoder {
            name,
            model_answered,
            sha256,
            ..
        } = &self.encoder;
        let probed = Encoder::new(name, model_answered, &probes).sha256;
        if probed != *sha256 {
            return Err("its probes do not have the sha256 of its first line"
                .to_owned()
                .into());
        }
        Ok(VectorRecords {
            embeddings,
            whole: self.read,
            torn,
        })
    }
}

/// Returns the hash and the numbers of a record.
fn split(record: &[u8]) -> (TextHash, Vec<f32>) {
    let (mut text, mut rest) = (TextHash::default(), record);
    if let Some((start, numbers)) = record.split_first_chunk() {
        (text, rest) = (*start, numbers);
    }
    let (numbers, _) = rest.as_chunks();
    (
        text,
        numbers.iter().copied().map(f32::from_le_bytes).collect(),
    )
}

/// Reads until the buffer is full or the input ends. Returns the number of bytes.
fn read_full(bytes: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match bytes.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
