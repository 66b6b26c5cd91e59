//! The vectors of a server in a file of the experiment, so that no text is paid twice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use durable::{AppendFile, Disk, Lock, LockError};

use super::error::ExperimentError;
use super::file;
use super::vector_file::{
    FRESH, KEPT, VectorProblem, VectorReader, VectorRecords, file_name, files, header, write_record,
};
use crate::measures::embedding::{Embeddings, Encoder, PROBES, TextHash};

/// The least cosine of two vectors of one text by one encoder.
const SAME: f64 = 0.9999;

/// A lock on the vectors of an experiment, which other processes may read meanwhile.
#[derive(Debug)]
pub struct VectorLock {
    folder: PathBuf,
    disk: Disk,
    _lock: Lock,
}

impl VectorLock {
    /// Locks `analysis/embeddings` of an experiment, and removes drafts that a killed process left. `pid` is the id of this
    /// process, which other processes report.
    ///
    /// # Errors
    /// [`ExperimentError::InUse`], and [`ExperimentError::Write`] if no lock file can be made.
    pub fn take(experiment: &Path, pid: u32) -> Result<Self, ExperimentError> {
        let folder = folder(experiment);
        file::make_folder(experiment, &folder)?;
        let disk = file::disk(experiment);
        let path = folder.join("lock");
        let taken = disk.lock(&path);
        let mut lock = taken.map_err(|error| match error {
            LockError::Held { pid } => ExperimentError::InUse {
                path: folder.clone(),
                pid,
            },
            error => written(&path)(error.into()),
        })?;
        lock.write(&format!("{pid}\n")).map_err(written(&path))?;
        disk.sweep(&folder);
        Ok(Self {
            folder,
            disk,
            _lock: lock,
        })
    }
}

/// The vectors of an encoder in `analysis/embeddings/HASH.bin`, where HASH is the beginning of the encoder's SHA-256.
///
/// The first line is the encoder as JSON. Records follow: the SHA-256 of a text in 32 bytes, and the numbers of its vector as
/// little-endian `f32`, as the server sent them. The first records are those of [`PROBES`]. An incomplete last record is
/// ignored, and removed when vectors are added.
///
/// Vectors that will replace these are in `HASH.fresh` until all are there. Without a file `HASH.bin` they are those that are
/// kept: a process was stopped after it had removed the earlier ones, or there were none.
#[derive(Debug)]
pub struct VectorCache {
    path: PathBuf,
    embeddings: Embeddings,
    /// The bytes of the first line and of the complete records.
    whole: u64,
    /// The bytes of the incomplete last record.
    torn: u64,
    file: Option<AppendFile>,
}

impl VectorCache {
    /// Reads the vectors of the encoder with this name; `None` if the experiment has none. If vectors will be added, the
    /// [`VectorLock`] comes first, and [`VectorCache::replace_kept`] gives the file its place.
    ///
    /// # Errors
    /// [`ExperimentError::VectorFile`] for a damaged file, and for two files of one encoder. A damaged file of an unknown
    /// encoder is an error only if the encoder has no other file. [`ExperimentError::Read`].
    pub fn find(experiment: &Path, name: &str) -> Result<Option<Self>, ExperimentError> {
        let mut found: Option<(PathBuf, _)> = None;
        let mut unknown = None;
        for path in files(&folder(experiment), KEPT)? {
            match VectorReader::open(&path) {
                Ok(Some(reader)) if reader.encoder.name == name => {
                    if let Some((first, _)) = found {
                        let first = first.display();
                        let why = format!("{first} has an encoder of the same name");
                        return Err(ExperimentError::VectorFile { path, why });
                    }
                    found = Some((path, reader));
                }
                Ok(_) => {}
                Err(error) => {
                    unknown.get_or_insert(error);
                }
            }
        }
        let Some((path, reader)) = found else {
            let fresh = fresh(&folder(experiment), name)?;
            return fresh.map_or_else(|| unknown.map_or(Ok(None), Err), |it| Ok(Some(it)));
        };
        match reader.records() {
            Ok(records) => Ok(Some(Self::new(path, records))),
            Err(problem) => Err(problem.of_file(&path)),
        }
    }

    /// Writes a new file with the vectors of [`PROBES`].
    ///
    /// # Errors
    /// [`ExperimentError::Vectors`] for an encoder or vectors that could not be read again, and [`ExperimentError::Write`].
    pub fn create(
        lock: &VectorLock,
        encoder: &Encoder,
        probes: &[Vec<f32>; PROBES.len()],
    ) -> Result<Self, ExperimentError> {
        Self::begin(lock, encoder, probes, KEPT)
    }

    /// Reads the file `HASH.fresh` of the encoder with this name, whose vectors will replace those that are kept; `None` if there
    /// is none that can be read.
    ///
    /// # Errors
    /// [`ExperimentError::Read`] for the folder.
    pub fn find_fresh(lock: &VectorLock, name: &str) -> Result<Option<Self>, ExperimentError> {
        fresh(&lock.folder, name)
    }

    /// Begins the file `HASH.fresh` with the vectors of [`PROBES`], in the place of one of an encoder with this name. The vectors
    /// that are kept stay until [`VectorCache::replace_kept`].
    ///
    /// # Errors
    /// As [`VectorCache::create`].
    pub fn create_fresh(
        lock: &VectorLock,
        encoder: &Encoder,
        probes: &[Vec<f32>; PROBES.len()],
    ) -> Result<Self, ExperimentError> {
        let fresh = Self::begin(lock, encoder, probes, FRESH)?;
        remove_others(lock, &fresh.path, FRESH, &encoder.name)?;
        Ok(fresh)
    }

    /// Removes files `HASH.bin` of other encoders with this name, then moves `HASH.fresh` to its place as `HASH.bin`, so that
    /// there are never two for one name. Files that cannot be read stay. A file that is in its place stays there.
    ///
    /// # Errors
    /// [`ExperimentError::Write`] and [`ExperimentError::Read`].
    pub fn replace_kept(&mut self, lock: &VectorLock) -> Result<(), ExperimentError> {
        let encoder = self.embeddings.encoder();
        let path = lock.folder.join(file_name(encoder, KEPT));
        remove_others(lock, &path, KEPT, &encoder.name)?;
        if self.path != path {
            let moved = lock.disk.rename(&self.path, &path);
            moved.map_err(written(&path))?;
            (self.path, self.file) = (path, None);
        }
        Ok(())
    }

    fn begin(
        lock: &VectorLock,
        encoder: &Encoder,
        probes: &[Vec<f32>; PROBES.len()],
        ending: &str,
    ) -> Result<Self, ExperimentError> {
        let mut bytes = header(encoder);
        for (text, vector) in PROBES.iter().zip(probes) {
            write_record(&mut bytes, &Embeddings::hash(text), vector);
        }
        let name = file_name(encoder, ending);
        let path = lock.folder.join(&name);
        let read = VectorReader::new(bytes.as_slice(), &name).and_then(VectorReader::records);
        let records = read.map_err(|problem| match problem {
            VectorProblem::Content(why) => ExperimentError::Vectors { why },
            VectorProblem::System(source) => written(&path)(source),
        })?;
        if records.whole != bytes.len() as u64 {
            let why = "the vectors have different lengths".to_owned();
            return Err(ExperimentError::Vectors { why });
        }
        let replaced = lock.disk.replace(&path, &bytes);
        replaced.map_err(written(&path))?;
        Ok(Self::new(path, records))
    }

    fn new(path: PathBuf, records: VectorRecords) -> Self {
        let VectorRecords {
            embeddings,
            whole,
            torn,
        } = records;
        Self {
            path,
            embeddings,
            whole,
            torn,
            file: None,
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the vectors.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// Returns the vectors without their file.
    pub fn into_embeddings(self) -> Embeddings {
        self.embeddings
    }

    /// Returns whether an encoder that answers [`PROBES`] with these vectors is that of the file: they have the same length,
    /// and the cosine with the vector of the file is at least 0.9999 for each.
    pub fn is_of_encoder(&self, probes: &[Vec<f32>; PROBES.len()]) -> bool {
        let mut now = Embeddings::new(self.embeddings.encoder().clone());
        PROBES.iter().zip(probes).all(|(text, vector)| {
            let text = Embeddings::hash(text);
            let is_usable = now.insert(text, vector.clone()).is_ok();
            let pair = self.embeddings.get(&text).zip(now.get(&text));
            let products = pair.into_iter().flat_map(|(a, b)| a.iter().zip(b));
            let cosine: f64 = products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            is_usable && cosine >= SAME
        })
    }

    /// Appends vectors to the file and waits for the disk. Texts that have a vector are left out.
    ///
    /// # Errors
    /// [`ExperimentError::Vectors`] for a vector that cannot be used, and [`ExperimentError::Write`]; then none of them is
    /// kept.
    pub fn add(
        &mut self,
        lock: &VectorLock,
        added: &[(TextHash, Vec<f32>)],
    ) -> Result<(), ExperimentError> {
        let mut new = Embeddings::new(self.embeddings.encoder().clone());
        let mut records = Vec::new();
        let mut bytes = Vec::new();
        for (index, (text, vector)) in added.iter().enumerate() {
            if self.embeddings.get(text).or(new.get(text)).is_some() {
                continue;
            }
            let inserted = new.insert(*text, vector.clone());
            inserted.map_err(|error| {
                let why = format!("vector {index}: {error}");
                ExperimentError::Vectors { why }
            })?;
            write_record(&mut bytes, text, vector);
            records.push((text, vector));
        }
        self.append(lock, &bytes).map_err(written(&self.path))?;
        for (text, vector) in records {
            // The same vector was inserted above.
            let _ = self.embeddings.insert(*text, vector.clone());
        }
        Ok(())
    }

    fn append(&mut self, lock: &VectorLock, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            // With the incomplete record, those of another process would be cut off.
            if fs::metadata(&self.path)?.len() != self.whole + self.torn {
                return Err(io::Error::other(durable::Replaced));
            }
            self.file = Some(lock.disk.open_append_at(&self.path, self.whole)?);
        }
        match &mut self.file {
            Some(file) => file.append_synced(bytes),
            None => Ok(()),
        }
    }
}

/// Reads the file `HASH.fresh` of the encoder with this name; `None` if there is none that can be read.
fn fresh(folder: &Path, name: &str) -> Result<Option<VectorCache>, ExperimentError> {
    let fresh = files(folder, FRESH)?.into_iter().find_map(|path| {
        let reader = VectorReader::open(&path).ok()??;
        let is_of_name = reader.encoder.name == name;
        let records = is_of_name.then(|| reader.records().ok())??;
        Some(VectorCache::new(path, records))
    });
    Ok(fresh)
}

/// Removes the files with this ending of encoders with this name, but for the one at `path`.
fn remove_others(
    lock: &VectorLock,
    path: &Path,
    ending: &str,
    name: &str,
) -> Result<(), ExperimentError> {
    for other in files(&lock.folder, ending)? {
        let is_of_name = VectorReader::open(&other)
            .is_ok_and(|opened| opened.is_some_and(|it| it.encoder.name == name));
        if is_of_name && other != path {
            fs::remove_file(&other).map_err(written(&other))?;
        }
    }
    Ok(())
}

/// Returns the folder of the vectors of an experiment.
fn folder(experiment: &Path) -> PathBuf {
    experiment.join("analysis/embeddings")
}

fn written(path: &Path) -> impl FnOnce(io::Error) -> ExperimentError {
    let path = path.to_owned();
    move |source| ExperimentError::Write { path, source }
}
