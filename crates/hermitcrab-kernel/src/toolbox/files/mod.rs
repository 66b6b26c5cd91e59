//! Files in the folders that a person opened to the model.

mod path;
mod root;

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use cap_std::fs::{Dir, OpenOptions};
use llm_client::Clock;
use serde::Serialize;

use path::TRASH;
use root::{Names, Root, fault, open_file, refused};

use crate::config::{Grant, timestamp};
use crate::{ErrorKind, ToolError};

/// Bytes of one call.
const MAX_READ: usize = 1 << 20;
const MAX_WRITE: usize = 4 << 20;
const MAX_ENTRIES: usize = 1_000;
/// A folder with more entries is listed in part, in the order of the disk.
const MAX_SEEN: usize = 50_000;

/// The folders that are open: `r1`, `r2` and so on. Without a grant no folder is open.
pub struct Files {
    roots: RwLock<Vec<Arc<Root>>>,
    data: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    /// Makes the names of files that are being written different.
    written: AtomicU64,
}

/// An open folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GrantedFolder {
    /// The name for tools, such as `r1`.
    pub root: String,
    /// The path on this machine.
    pub dir: String,
    /// Whether tools may write there.
    pub write: bool,
    /// Whether tools may move files there to the trash.
    pub delete: bool,
}

/// The entries of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// At most 1,000 entries, by name.
    pub entries: Vec<Entry>,
    /// There are more.
    pub more: bool,
}

/// One entry of a folder. What is protected is not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// The name of the entry.
    pub name: String,
    /// `file`, `folder`, `link` or `other`.
    pub kind: &'static str,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A chunk of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileChunk {
    /// The text from the offset on.
    pub text: String,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// The offset of the next chunk; `None` at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

impl Files {
    /// No folders yet. Nothing below `data` will ever be open.
    pub fn new(data: Option<&Path>, clock: Arc<dyn Clock>) -> Self {
        Self {
            roots: RwLock::default(),
            data: data.map(|data| data.canonicalize().unwrap_or_else(|_| data.to_owned())),
            clock,
            written: AtomicU64::new(0),
        }
    }

    /// The person opens a folder; its name. A folder that is open already takes the new rights.
    ///
    /// # Errors
    /// It cannot be opened, or lies in the data directory.
    pub fn grant(&self, grant: &Grant) -> Result<String, ToolError> {
        let root = Arc::new(Root::open(grant, self.data.as_deref())?);
        let mut roots = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        let known = roots.iter().position(|open| open.place == root.place);
        let at = known.unwrap_or(roots.len());
        match roots.get_mut(at) {
            Some(open) => *open = root,
            None => roots.push(root),
        }
        Ok(id(at))
    }

    /// The open folders.
    pub fn roots(&self) -> Vec<GrantedFolder> {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        let open = roots.iter().enumerate().map(|(at, root)| GrantedFolder {
            root: id(at),
            dir: root.place.display().to_string(),
            write: root.write,
            delete: root.delete,
        });
        open.collect()
    }

    /// The entries of the folder at `path`; an empty path is the root.
    ///
    /// # Errors
    /// `bad_root`, `bad_path`, `refused`, `not_found`, `wrong_kind`, `io`.
    pub fn list(&self, root: &str, path: &str) -> Result<Listing, ToolError> {
        let root = self.root(root)?;
        let names = root.real(path, &path::read(path)?)?;
        let read = || -> io::Result<Listing> {
            let mut entries = Vec::new();
            let mut seen = 0;
            for entry in root.folder(&names, false)?.entries()? {
                let entry = entry?;
                seen += 1;
                // A name that is no text cannot be asked for.
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                if root.shows(&names, &name) {
                    entries.push((name, entry));
                }
                if seen == MAX_SEEN {
                    break;
                }
            }
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            let more = entries.len() > MAX_ENTRIES || seen == MAX_SEEN;
            entries.truncate(MAX_ENTRIES);
            let entries = entries.into_iter().map(|(name, entry)| {
                // What is gone by now has no size.
                let metadata = entry.metadata().ok();
                let kind = match &metadata {
                    Some(one) if one.is_file() => "file",
                    Some(one) if one.is_dir() => "folder",
                    Some(one) if one.is_symlink() => "link",
                    _ => "other",
                };
                Entry {
                    name,
                    kind,
                    bytes: metadata
                        .filter(cap_std::fs::Metadata::is_file)
                        .map(|one| one.len()),
                }
            });
            Ok(Listing {
                entries: entries.collect(),
                more,
            })
        };
        read().map_err(|error| fault(path, &error))
    }

    /// A file's text from byte `offset` on, at most `limit` bytes and never more than 1 MiB.
    ///
    /// # Errors
    /// As [`Self::list`], `bad_offset`, and `binary` for what is not UTF-8.
    pub fn read(
        &self,
        root: &str,
        path: &str,
        offset: u64,
        limit: usize,
    ) -> Result<FileChunk, ToolError> {
        let root = self.root(root)?;
        let (name, folder) = split(path, root.real(path, &path::read(path)?)?)?;
        let read = || -> io::Result<(Vec<u8>, u64)> {
            let (mut file, metadata) = open_file(&root.folder(&folder, false)?, &name)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            // A character has at most 4 bytes, and one has to fit.
            let limit = limit.clamp(4, MAX_READ);
            file.take(limit as u64).read_to_end(&mut bytes)?;
            Ok((bytes, metadata.len()))
        };
        let (bytes, length) = read().map_err(|error| fault(path, &error))?;
        if offset > length {
            return Err(bad_offset(path, format!("the file has {length} bytes")));
        }
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            // The last character goes on in the next piece.
            Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) if error.valid_up_to() == 0 && offset > 0 && bytes[0] & 0xc0 == 0x80 => {
                return Err(bad_offset(path, "that is inside a character"));
            }
            Err(_) => return Err(binary(path)),
        };
        if text.contains('\0') {
            return Err(binary(path));
        }
        let end = offset + text.len() as u64;
        Ok(FileChunk {
            text: text.to_owned(),
            bytes: length,
            next: (end < length && !text.is_empty()).then_some(end),
        })
    }

    /// Writes a whole file, at most 4 MiB: it is the old one or the new one, whatever happens.
    ///
    /// # Errors
    /// As [`Self::list`]; `read_only`, `too_large`, `disk_full`.
    pub fn write(&self, root: &str, path: &str, content: &str) -> Result<(), ToolError> {
        let root = self.root(root)?;
        if content.len() > MAX_WRITE {
            return Err(ToolError::new(
                ErrorKind::TooLarge,
                format!("{path}: {} bytes; {MAX_WRITE} are the limit", content.len()),
            )
            .hint("write several files"));
        }
        let (name, folder) = split(path, writable(&root, path)?)?;
        let put = || -> io::Result<()> {
            let dir = root.folder(&folder, false)?;
            let old = match dir.symlink_metadata(&name) {
                Ok(old) if old.is_file() => Some(old),
                Ok(_) => {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        "it is not a regular file",
                    ));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            let (part, mut file) = self.part(&dir)?;
            let written = (|| {
                if let Some(old) = old {
                    file.set_permissions(old.permissions())?;
                }
                file.write_all(content.as_bytes())?;
                file.sync_all()?;
                dir.rename(&part, &dir, &name)
            })();
            if written.is_err() {
                // The write's own error is what is told.
                let _ = dir.remove_file(&part);
            }
            written
        };
        put().map_err(|error| fault(path, &error))
    }

    /// Makes a folder and those above it; one that is there is no fault.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn mkdir(&self, root: &str, path: &str) -> Result<(), ToolError> {
        let root = self.root(root)?;
        let names = writable(&root, path)?;
        root.folder(&names, true)
            .map_err(|error| fault(path, &error))?;
        Ok(())
    }

    /// Moves a file or a folder with all it holds to the root's trash; where it is now.
    ///
    /// # Errors
    /// As [`Self::write`]; `no_delete`.
    pub fn delete(&self, root: &str, path: &str) -> Result<String, ToolError> {
        let root = self.root(root)?;
        if !root.delete {
            return Err(ToolError::new(
                ErrorKind::NoDelete,
                "nothing may be deleted in this folder",
            )
            .hint("ask the person to open it with :rwd"));
        }
        let asked = path::read(path)?;
        // A link is moved itself: only the folders above it are followed.
        let (name, above) = split(path, asked)?;
        let folder = root.real(path, &above)?;
        let names: Names = folder.iter().cloned().chain([name.clone()]).collect();
        if root.holds_data(&names) || !root.shows(&folder, &name) {
            return Err(refused(path, "it is protected, or holds what is"));
        }
        not_trash(path, &names)?;
        let stamp = timestamp(&*self.clock)
            .strftime("%Y%m%dT%H%M%SZ")
            .to_string();
        let put = || -> io::Result<String> {
            let from = root.folder(&folder, false)?;
            from.symlink_metadata(&name)?;
            let trash = root.folder(&[TRASH.to_owned()], true)?;
            // A folder of its own for each, so that nothing in the trash is ever replaced.
            for n in 0_u32.. {
                let place = match n {
                    0 => stamp.clone(),
                    n => format!("{stamp}-{n}"),
                };
                match trash.create_dir(&place) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    made => {
                        made?;
                        from.rename(&name, &trash.open_dir(&place)?, &name)?;
                        return Ok(format!("{TRASH}/{place}/{name}"));
                    }
                }
            }
            Err(io::Error::other("the trash is full"))
        };
        put().map_err(|error| fault(path, &error))
    }

    fn root(&self, id: &str) -> Result<Arc<Root>, ToolError> {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        let number = id.strip_prefix('r').and_then(|n| n.parse::<usize>().ok());
        let root = number.and_then(|n| roots.get(n.checked_sub(1)?));
        root.cloned().ok_or_else(|| {
            ToolError::new(ErrorKind::BadRoot, format!("no folder {id:?} is open"))
                .hint("fs_pick_directory asks the person for one")
        })
    }

    /// A new file next to the one that it will replace.
    fn part(&self, dir: &Dir) -> io::Result<(String, cap_std::fs::File)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        loop {
            let n = self.written.fetch_add(1, Ordering::Relaxed);
            let name = format!(".hermitcrab-{n}.part");
            match dir.open_with(&name, &options) {
                // Left behind by a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return Ok((name, opened?)),
            }
        }
    }
}

fn id(at: usize) -> String {
    format!("r{}", at + 1)
}

/// The last name, and those before it.
fn split(path: &str, mut names: Names) -> Result<(String, Names), ToolError> {
    match names.pop() {
        Some(name) => Ok((name, names)),
        None => Err(
            ToolError::new(ErrorKind::BadPath, format!("{path:?} is the root itself"))
                .hint("name a file or folder in it, such as notes/today.md"),
        ),
    }
}

fn writable(root: &Root, path: &str) -> Result<Names, ToolError> {
    if !root.write {
        return Err(
            ToolError::new(ErrorKind::ReadOnly, "this folder is open for reading only")
                .hint("ask the person to open it with :rw"),
        );
    }
    let asked = path::read(path)?;
    if let Some(name) = asked.iter().find(|name| path::is_odd(name)) {
        return Err(ToolError::new(
            ErrorKind::BadPath,
            format!("{path:?}: {name:?} has another meaning on Windows"),
        )
        .hint("choose another name"));
    }
    let names = root.real(path, &asked)?;
    not_trash(path, &names)?;
    Ok(names)
}

/// Refuses paths in the trash, which belongs to the person.
fn not_trash(path: &str, names: &[String]) -> Result<(), ToolError> {
    match names.first() {
        Some(first) if path::folded(first) == TRASH => Err(refused(path, "it is in the trash")),
        _ => Ok(()),
    }
}

fn bad_offset(path: &str, why: impl std::fmt::Display) -> ToolError {
    ToolError::new(ErrorKind::BadOffset, format!("{path}: {why}"))
        .hint("use the offset `next` of the piece before")
}

fn binary(path: &str) -> ToolError {
    ToolError::new(
        ErrorKind::Binary,
        format!("{path}: it is not text in UTF-8"),
    )
}
