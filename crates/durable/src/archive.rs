use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::Disk;

impl Disk {
    /// Moves lines of a file that only grows to a packed archive: those in the bytes `lines`. The file then holds `begin`
    /// and what follows these lines; what is before them is dropped. Answers the new length of the file.
    ///
    /// The archive is on the disk before the file is replaced. A crash in between leaves the lines in both, and readers
    /// drop the second copy by a number that the lines carry.
    ///
    /// # Errors
    /// The file is shorter, or a file cannot be read or written. The file is then as it was.
    pub fn rotate(
        &self,
        path: &Path,
        archive: &Path,
        lines: Range<u64>,
        begin: &[u8],
    ) -> io::Result<u64> {
        let mut file = self.open_read(path)?;
        file.seek(SeekFrom::Start(lines.start))?;
        let mut old = vec![0; lines.end.saturating_sub(lines.start) as usize];
        file.read_exact(&mut old)?;
        self.pack(archive, &old)?;
        let mut kept = begin.to_vec();
        file.read_to_end(&mut kept)?;
        self.replace(path, &kept)?;
        Ok(kept.len() as u64)
    }

    /// Writes a packed archive of these lines, in the place of one with this name.
    ///
    /// # Errors
    /// The file cannot be written; an old one remains.
    pub fn pack(&self, archive: &Path, lines: &[u8]) -> io::Result<()> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(lines)?;
        self.replace(archive, &packer.finish()?)
    }

    /// The lines of an archive.
    ///
    /// # Errors
    /// The archive cannot be read, or has more than `limit` bytes when unpacked: [`io::ErrorKind::FileTooLarge`].
    pub fn unpack(&self, archive: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.open_read(archive)?;
        let mut bytes = Vec::new();
        GzDecoder::new(file)
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            let reason = format!("more than {limit} bytes when unpacked");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        Ok(bytes)
    }
}
