#![allow(missing_docs)]
use crate::types::Request;
pub trait Estimator: Send + Sync {
    fn name(&self) -> &str;
    fn estimate(&self, request: &Request) -> u64;
}
pub struct Bytes3;
impl Estimator for Bytes3 {
    fn name(&self) -> &str {
        "bytes3"
    }
    fn estimate(&self, r: &Request) -> u64 {
        r.messages
            .iter()
            .map(|m| m.text().len() as u64 / 3 + 4)
            .sum::<u64>()
            + 8
    }
}
#[derive(Default)]
pub struct CountCache;
impl CountCache {
    pub fn get(&self, _k: &str) -> Option<u64> {
        None
    }
    pub fn put(&self, _k: &str, _v: u64) {}
}
