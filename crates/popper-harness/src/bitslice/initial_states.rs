//! The enumeration of all starts of a ring, batch by batch.

use super::batch::{Batch, code_bits};
use super::necklaces::{Prefixes, Representatives, StartClasses};
use super::word::{BitSlice, LANES, WORDS};
use crate::universe::Symbol;

/// The number of prefixes that a thread takes at once.
const CHUNK: u64 = 256;

/// The starts of a ring: the least one of each class.
///
/// A start is a prefix and a suffix. The prefixes are enumerated one by one, in chunks that threads share, and the suffixes
/// that make a prefix the least start of its class are found for all suffixes at once, one in each lane.
#[derive(Debug, Clone)]
pub struct InitialStates {
    n: usize,
    symbols: Vec<Symbol>,
    total: usize,
    rotations: bool,
    /// The first prefix of each chunk, if not every word is a prefix.
    heads: Vec<Vec<u8>>,
    chunks: usize,
    /// The codes of the symbols of each suffix, the first cell in the lowest bits.
    codes: Vec<u16>,
    /// The number of cells of the suffix.
    suffix: usize,
    representatives: Representatives,
}

impl InitialStates {
    /// Prepares the starts of rings of `n` cells over `symbols` (ascending), out of an alphabet of `total` symbols.
    ///
    /// A transform of `classes` must be its own inverse and keep the set of `symbols`.
    ///
    /// Returns `None` for more than 2^32 prefixes, which are too many to visit, for no symbol and for no cell.
    pub fn new(
        n: usize,
        symbols: &[Symbol],
        total: usize,
        classes: StartClasses<'_>,
    ) -> Option<Self> {
        let k = symbols.len();
        if k == 0 || n == 0 {
            return None;
        }
        let (mut suffix, mut lanes) = (0, 1);
        let bits = code_bits(total);
        while suffix < n && (suffix + 1) * bits <= CODE && lanes * k <= LANES {
            suffix += 1;
            lanes *= k;
        }
        let length = n - suffix;
        let all = (k as u64)
            .checked_pow(u32::try_from(length).ok()?)
            .filter(|&count| count <= 1 << 32)?;
        let mut letter = vec![BitSlice::ZERO; suffix * k];
        let mut codes = vec![0; lanes];
        for (lane, code) in codes.iter_mut().enumerate() {
            let mut rest = lane;
            for cell in (0..suffix).rev() {
                letter[cell * k + rest % k].set(lane, true);
                *code |= u16::from(symbols[rest % k]) << (cell * bits);
                rest /= k;
            }
        }
        let rank = |symbol: Symbol| symbols.iter().position(|&known| known == symbol);
        let identity = ((0..k as u8).collect(), false);
        let maps = match classes {
            StartClasses::Each => Vec::new(),
            StartClasses::Rotations => vec![identity],
            StartClasses::RotationsAnd(transform) => {
                let image =
                    |&symbol: &Symbol| Some(rank(*transform.map.get(usize::from(symbol))?)? as u8);
                let map = symbols.iter().map(image).collect::<Option<_>>()?;
                vec![identity, (map, transform.reverse)]
            }
        };
        let rotations = !maps.is_empty();
        let mut heads = Vec::new();
        if rotations {
            let mut words = Prefixes::new(length, k, true);
            let mut index = 0_u64;
            loop {
                if index.is_multiple_of(CHUNK) {
                    heads.push(words.letters.clone());
                }
                index += 1;
                if !words.advance(length) {
                    break;
                }
            }
        }
        let chunks = if rotations {
            heads.len()
        } else {
            all.div_ceil(CHUNK) as usize
        };
        Some(Self {
            n,
            symbols: symbols.into(),
            total,
            rotations,
            heads,
            chunks,
            codes,
            suffix,
            representatives: Representatives::new(n, k, &letter, BitSlice::first(lanes), maps),
        })
    }

    /// Returns the number of chunks.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Returns the first prefix of a chunk.
    fn head(&self, chunk: usize) -> Vec<u8> {
        if let Some(head) = self.heads.get(chunk) {
            return head.clone();
        }
        let k = self.symbols.len() as u64;
        let mut rest = chunk as u64 * CHUNK;
        let mut letters = vec![0; self.n - self.suffix];
        for letter in letters.iter_mut().rev() {
            *letter = (rest % k) as u8;
            rest /= k;
        }
        letters
    }

    /// Calls `each` with the batches of a chunk until it returns `false`.
    ///
    /// The number says how many classes of rotations each start of the batch stands for: 1, or 2 if its image under the
    /// transform is in another one. The starts of either kind are in lexicographic order.
    pub fn visit(&self, chunk: usize, mut each: impl FnMut(&Batch, u64) -> bool) {
        let length = self.n - self.suffix;
        let mut words = Prefixes::new(length, self.symbols.len(), self.rotations);
        words.letters = self.head(chunk);
        let end = (chunk + 1 < self.chunks).then(|| self.head(chunk + 1));
        let mut packers = [1, 2].map(|weight| Packer::new(self, weight));
        loop {
            let chosen = self.representatives.choose(&words.letters);
            for (packer, lanes) in packers.iter_mut().zip([chosen.single, chosen.pairs]) {
                if lanes.any() && !packer.add(&words.letters, lanes, &mut each) {
                    return;
                }
            }
            if !words.advance(chosen.read) || end.as_ref().is_some_and(|end| words.letters >= *end)
            {
                break;
            }
        }
        for mut packer in packers {
            if packer.lanes > 0 && !packer.send(&mut each) {
                return;
            }
        }
    }
}

/// The number of bits of the codes of a suffix.
const CODE: usize = 16;

/// A batch that is filled with starts, lane by lane.
struct Packer<'a> {
    starts: &'a InitialStates,
    weight: u64,
    batch: Batch,
    /// The number of lanes so far.
    lanes: usize,
    /// The codes of the suffixes for each word of 64 lanes: that of lane `16 * part + row` is in bits `16 * part..` of a row.
    suffixes: [[u64; CODE]; WORDS],
}

impl<'a> Packer<'a> {
    fn new(starts: &'a InitialStates, weight: u64) -> Self {
        Self {
            starts,
            weight,
            batch: Batch::new(starts.n, starts.total),
            lanes: 0,
            suffixes: [[0; CODE]; WORDS],
        }
    }

    /// Adds the starts with a prefix and each of the suffixes in `lanes`.
    fn add(
        &mut self,
        prefix: &[u8],
        lanes: BitSlice,
        each: &mut impl FnMut(&Batch, u64) -> bool,
    ) -> bool {
        let mut from = self.lanes;
        for (codes, word) in self.starts.codes.chunks(64).zip(lanes.0) {
            let mut rest = word;
            while rest != 0 {
                let code = u64::from(codes[rest.trailing_zeros() as usize]);
                rest &= rest - 1;
                let lane = self.lanes;
                self.suffixes[lane / 64][lane % CODE] |= code << (lane % 64 / CODE * CODE);
                self.lanes += 1;
                if self.lanes == LANES {
                    self.place(prefix, from);
                    from = 0;
                    if !self.send(each) {
                        return false;
                    }
                }
            }
        }
        self.place(prefix, from);
        true
    }

    /// Puts a prefix into the lanes from `from` on.
    fn place(&mut self, prefix: &[u8], from: usize) {
        let (n, words) = (self.batch.n, from / 64..self.lanes.div_ceil(64));
        let mask = BitSlice::range(from, self.lanes);
        for (cell, &letter) in prefix.iter().enumerate() {
            let symbol = self.starts.symbols[usize::from(letter)];
            for bit in (0..self.batch.bits).filter(|bit| symbol >> bit & 1 == 1) {
                let plane = &mut self.batch.planes[bit * n + cell];
                for word in words.clone() {
                    plane.0[word] |= mask.0[word];
                }
            }
        }
    }

    /// Hands the batch on and empties it.
    fn send(&mut self, each: &mut impl FnMut(&Batch, u64) -> bool) -> bool {
        let (n, bits, suffix) = (self.batch.n, self.batch.bits, self.starts.suffix);
        self.batch.live = BitSlice::first(self.lanes);
        for (word, rows) in self.suffixes.iter_mut().enumerate() {
            transpose(rows);
            for (row, lanes) in rows[..suffix * bits].iter().enumerate() {
                let plane = row % bits * n + n - suffix + row / bits;
                self.batch.planes[plane].0[word] = *lanes;
            }
        }
        let go_on = each(&self.batch, self.weight);
        self.batch.clear();
        self.lanes = 0;
        self.suffixes = [[0; CODE]; WORDS];
        go_on
    }
}

/// Transposes four 16 x 16 bit matrices in place, side by side: bit `c` of row `r` becomes bit `r` of row `c`.
fn transpose(rows: &mut [u64; CODE]) {
    for (width, mask) in [
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        for low in (0..CODE).filter(|row| row & width == 0) {
            let swap = (rows[low] >> width ^ rows[low + width]) & mask;
            rows[low] ^= swap << width;
            rows[low + width] ^= swap;
        }
    }
}
