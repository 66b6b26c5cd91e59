//! The last good shells.

use std::io;

use jiff::Timestamp;
use pscale_blocks::store::{Origin, Origins};
use serde::{Deserialize, Serialize};

use super::shell::{CompiledShell, ShellInfo};
use crate::KernelError;
use crate::storage::{FileStore, refuse_newer};

const FILE: &str = "shells.json";
const VERSION: u32 = 1;
const FOLDER: &str = "shells";
/// The number of good shells that are kept.
const KEPT: usize = 10;

/// The content of `shells.json`; the sources are files next to it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shells {
    schema_version: u32,
    /// The last revision that was given out.
    last: u64,
    /// The kept shells, oldest first.
    #[serde(rename = "shells")]
    kept: Vec<ShellInfo>,
}

fn source_file(rev: u64) -> String {
    format!("{FOLDER}/{rev}.jsx")
}

/// The number of crashes after which a shell is never restored.
const DEATHS: u32 = 2;

fn is_sound(shell: &ShellInfo) -> bool {
    !has_failed(shell) && shell.deaths < DEATHS
}

fn has_failed(shell: &ShellInfo) -> bool {
    shell.mounted == Some(false)
}

impl Shells {
    /// Fails if a newer program wrote the list. Nothing is written.
    pub fn refuse_newer(files: &FileStore) -> Result<(), KernelError> {
        refuse_newer(files, FILE, VERSION)
    }

    /// Reads the list. If it cannot be read it is made again from the sources, with a line about it.
    ///
    /// # Errors
    /// `newer`; or the file cannot be read or kept.
    pub fn open(files: &FileStore) -> Result<(Self, Option<String>), KernelError> {
        Self::refuse_newer(files)?;
        Self::read(files).map_err(KernelError::file(FILE))
    }

    fn read(files: &FileStore) -> io::Result<(Self, Option<String>)> {
        let (bytes, moved) = files.load(FILE)?;
        let Some(bytes) = bytes else {
            return Ok((Self::found(files)?, moved));
        };
        let why = match serde_json::from_slice::<Self>(&bytes) {
            Ok(shells) if shells.schema_version == VERSION => return Ok((shells, None)),
            Ok(shells) => format!("it is of version {}", shells.schema_version),
            Err(error) => error.to_string(),
        };
        let aside = files.back_up_unreadable(FILE, &bytes)?;
        let shells = Self::found(files)?;
        shells.save(files)?;
        let notice = format!(
            "{FILE} cannot be read ({why}): the list of faces was made again from {} sources, it is kept as {aside}",
            shells.kept.len()
        );
        Ok((shells, Some(notice)))
    }

    /// The shells whose sources are there; their authors and origins are unknown.
    fn found(files: &FileStore) -> io::Result<Self> {
        let names = files.list(FOLDER)?;
        let revs = names.iter().filter_map(|name| name.strip_suffix(".jsx"));
        let mut revs: Vec<u64> = revs.filter_map(|rev| rev.parse().ok()).collect();
        revs.sort_unstable();
        let unknown = || "unknown".to_owned();
        Ok(Self {
            schema_version: VERSION,
            last: revs.last().copied().unwrap_or_default(),
            kept: revs
                .into_iter()
                .map(|rev| ShellInfo {
                    rev,
                    at: Timestamp::UNIX_EPOCH,
                    by: unknown(),
                    component: unknown(),
                    mounted: None,
                    deaths: 0,
                    from: Origin::Face { rev }.into(),
                })
                .collect(),
        })
    }

    /// The kept shells, oldest first.
    pub fn list(&self) -> &[ShellInfo] {
        &self.kept
    }

    pub fn source(&self, files: &FileStore, rev: u64) -> io::Result<Option<String>> {
        if !self.kept.iter().any(|shell| shell.rev == rev) {
            return Ok(None);
        }
        let bytes = files.read(&source_file(rev))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The places outside that a shell may come from. One that is not kept may come from itself.
    pub fn origins(&self, rev: u64) -> Origins {
        let shell = self.kept.iter().find(|shell| shell.rev == rev);
        shell.map_or_else(|| Origin::Face { rev }.into(), |shell| shell.from.clone())
    }

    /// The revision that the next shell gets.
    pub fn next_rev(&self) -> u64 {
        self.last + 1
    }

    /// Keeps a shell under [`Self::next_rev`]; [`Self::mark`] notes whether it mounted.
    pub fn add(
        &mut self,
        files: &FileStore,
        compiled: &CompiledShell,
        at: Timestamp,
        by: &str,
        from: Origins,
    ) -> io::Result<u64> {
        let rev = self.next_rev();
        files.replace(&source_file(rev), compiled.source.as_bytes())?;
        self.last = rev;
        self.kept.push(ShellInfo {
            rev,
            at,
            by: by.to_owned(),
            component: compiled.component.clone(),
            mounted: None,
            deaths: 0,
            from,
        });
        self.save(files)?;
        Ok(rev)
    }

    /// Notes whether a shell mounted, none if no page was open, and lets the oldest go.
    pub fn mark(&mut self, files: &FileStore, rev: u64, mounted: Option<bool>) -> io::Result<()> {
        let Some(shell) = self.kept.iter_mut().find(|shell| shell.rev == rev) else {
            return Ok(());
        };
        shell.mounted = mounted.or(shell.mounted);
        if mounted == Some(false) {
            shell.deaths += 1;
        }
        let gone = self.oldest();
        self.kept.retain(|shell| !gone.contains(&shell.rev));
        self.save(files)?;
        gone.into_iter()
            .try_for_each(|rev| files.remove(&source_file(rev)))
    }

    /// The revisions beyond ten good shells, and beyond ten failed ones: these never take the place of good ones.
    fn oldest(&self) -> Vec<u64> {
        let of_kind = |failed: bool| {
            let kind = (self.kept.iter()).filter(move |shell| has_failed(shell) == failed);
            let over = kind.clone().count().saturating_sub(KEPT);
            kind.take(over).map(|shell| shell.rev)
        };
        of_kind(false).chain(of_kind(true)).collect()
    }

    /// The shell to go back to: the newest one that has not failed, the current one first; without those that were passed over.
    pub fn good(&self, current: Option<u64>, passed: &[u64]) -> Option<&ShellInfo> {
        let can = |shell: &&ShellInfo| is_sound(shell) && !passed.contains(&shell.rev);
        let mut sound = self.kept.iter().rev().filter(can);
        let current = (sound.clone()).find(|shell| Some(shell.rev) == current);
        current.or_else(|| sound.next())
    }

    /// Forgets a shell that was never shown.
    pub fn forget(&mut self, files: &FileStore, rev: u64) -> io::Result<()> {
        self.kept.retain(|shell| shell.rev != rev);
        self.save(files)?;
        files.remove(&source_file(rev))
    }

    /// Counts a death of a shell that was shown.
    pub fn died(&mut self, files: &FileStore, rev: u64, hung: bool) -> io::Result<()> {
        let Some(shell) = self.kept.iter_mut().find(|shell| shell.rev == rev) else {
            return Ok(());
        };
        shell.deaths = shell.deaths.saturating_add(1);
        if hung {
            shell.mounted = Some(false);
            shell.deaths = shell.deaths.max(DEATHS);
        }
        self.save(files)
    }

    /// The number of crashes of a shell.
    pub fn deaths(&self, rev: u64) -> u32 {
        let shell = self.kept.iter().find(|shell| shell.rev == rev);
        shell.map_or(0, |shell| shell.deaths)
    }

    /// The shell to show when `rev` died: the newest sound one before it, else `rev` itself, if it is sound and may be shown
    /// `again`.
    pub fn after(&self, rev: u64, again: bool) -> Option<u64> {
        let sound = self.kept.iter().rev().filter(|shell| is_sound(shell));
        let mut revs = sound.map(|shell| shell.rev);
        let earlier = revs.clone().find(|other| *other < rev);
        earlier.or_else(|| revs.find(|other| again && *other == rev))
    }

    fn save(&self, files: &FileStore) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        files.replace(FILE, &text)
    }
}
