use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 as 64 hexadecimal digits.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex::encode(Sha256::digest(bytes))
}
