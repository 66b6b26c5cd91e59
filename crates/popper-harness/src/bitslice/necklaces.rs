//! The choice of one start of each class: the least state under rotations, and under a transform too.

use std::cmp::Ordering;

use super::word::BitSlice;
use crate::universe::Transform;

/// The starts that a law cannot tell apart, of which one stands for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartClasses<'a> {
    /// Every start is a separate class.
    Each,
    /// The rotations of a start.
    Rotations,
    /// The rotations of a start and of its image under a transform that is its own inverse.
    RotationsAnd(&'a Transform),
}

/// The words of a length over the letters `0..k`, ascending: all of them, or those that begin a least rotation.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    pub letters: Vec<u8>,
    k: u8,
    rotations: bool,
}

impl Prefixes {
    pub(super) fn new(length: usize, k: usize, rotations: bool) -> Self {
        Self {
            letters: vec![0; length],
            k: k as u8,
            rotations,
        }
    }

    /// Advances to the next word that differs in the first `within` letters; `false` after the last one.
    ///
    /// The beginnings of least rotations are the prenecklaces of Fredricksen, Kessler and Maiorana: after a letter is
    /// raised, the least continuation repeats the word up to that letter.
    pub(super) fn advance(&mut self, within: usize) -> bool {
        let raised = |&place: &usize| self.letters[place] + 1 < self.k;
        let Some(place) = (0..within).rev().find(raised) else {
            return false;
        };
        self.letters[place] += 1;
        for next in place + 1..self.letters.len() {
            self.letters[next] = if self.rotations {
                self.letters[next - place - 1]
            } else {
                0
            };
        }
        true
    }
}

/// The lanes in which one letter is below another, and those in which both are equal.
#[derive(Debug, Clone, Copy)]
struct Compared {
    less: BitSlice,
    equal: BitSlice,
}

/// The comparisons of the letters of an image with the letters of a word, for all suffixes at once.
#[derive(Debug, Clone)]
struct Image {
    /// The letter that each letter becomes.
    map: Vec<u8>,
    reverse: bool,
    /// The image of suffix cell `i` with letter `c`: entry `i * k + c`.
    with_letter: Vec<Compared>,
    /// The image of suffix cell `i` with suffix cell `j`: entry `i * suffix + j`.
    with_suffix: Vec<Compared>,
}

/// The filter of the words with a given prefix, one lane for each suffix.
#[derive(Debug, Clone)]
pub(super) struct Representatives {
    n: usize,
    suffix: usize,
    k: usize,
    all: BitSlice,
    /// The identity, then the transform; empty if every start is a separate class.
    images: Vec<Image>,
}

/// The suffixes that make a prefix the least word of its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    /// The words that differ from each rotation of their image.
    pub pairs: BitSlice,
    /// The words whose image is a rotation of them, and all words where there is no transform.
    pub single: BitSlice,
    /// The number of letters of the prefix that were read.
    ///
    /// If nothing is chosen, nothing is chosen for any other prefix that begins with these letters.
    pub read: usize,
}

impl Representatives {
    /// Prepares words of `n` letters; `letter[i * k + a]` are the lanes whose suffix has letter `a` at cell `i`.
    ///
    /// `maps` are the transforms on letters, the identity first, each with whether it reverses.
    pub(super) fn new(
        n: usize,
        k: usize,
        letter: &[BitSlice],
        all: BitSlice,
        maps: Vec<(Vec<u8>, bool)>,
    ) -> Self {
        let suffix = letter.len() / k;
        let image = |(map, reverse): (Vec<u8>, bool)| {
            let at = |cell: usize, image: usize| {
                let source = map.iter().position(|&to| usize::from(to) == image);
                source.map_or(BitSlice::ZERO, |source| letter[cell * k + source])
            };
            let below = |cell, limit: usize| {
                (0..limit).fold(BitSlice::ZERO, |any, image| any | at(cell, image))
            };
            let with_letter = (0..suffix * k).map(|entry| Compared {
                less: below(entry / k, entry % k),
                equal: at(entry / k, entry % k),
            });
            let with_letter: Vec<Compared> = with_letter.collect();
            let with_suffix = (0..suffix * suffix).map(|entry| {
                let (cell, other) = (entry / suffix, entry % suffix);
                let mut compared = Compared {
                    less: BitSlice::ZERO,
                    equal: BitSlice::ZERO,
                };
                for c in 0..k {
                    let (image, lanes) = (with_letter[cell * k + c], letter[other * k + c]);
                    compared.less |= image.less & lanes;
                    compared.equal |= image.equal & lanes;
                }
                compared
            });
            let with_suffix = with_suffix.collect();
            Image {
                map,
                reverse,
                with_letter,
                with_suffix,
            }
        };
        Self {
            n,
            suffix,
            k,
            all,
            images: maps.into_iter().map(image).collect(),
        }
    }

    /// Returns the suffixes that make a prefix the least word of its class.
    pub(super) fn choose(&self, prefix: &[u8]) -> Chosen {
        let nothing = BitSlice::ZERO;
        let mut left = self.all;
        let mut fixed = if self.images.len() < 2 { left } else { nothing };
        // The transform first: it excludes many prefixes as a whole, whatever their suffix.
        for (index, image) in self.images.iter().enumerate().rev() {
            // The rotation of a word by 0 cells is the word.
            for start in usize::from(index == 0)..self.n {
                // As long as both letters are known, all lanes are alike.
                let (mut from, mut place) = (start, 0);
                let mut order = Ordering::Equal;
                while let (Some(letter), Some(to)) = (prefix.get(from), prefix.get(place)) {
                    order = image.map[usize::from(*letter)].cmp(to);
                    if order != Ordering::Equal {
                        break;
                    }
                    place += 1;
                    from = image.next(from, self.n);
                }
                match order {
                    Ordering::Greater => {}
                    Ordering::Less => {
                        let read = start.max(from).max(place) + 1;
                        return Chosen {
                            pairs: nothing,
                            single: nothing,
                            read,
                        };
                    }
                    Ordering::Equal => {
                        let compared = self.compare(prefix, image, from, place, left);
                        left = left.andnot(compared.less);
                        if index > 0 {
                            fixed |= compared.equal;
                        }
                    }
                }
            }
        }
        Chosen {
            pairs: left.andnot(fixed),
            single: left & fixed,
            read: prefix.len(),
        }
    }

    /// Compares the image of the word from cell `from` on with the word from cell `place` on, in the lanes of `left`.
    fn compare(
        &self,
        prefix: &[u8],
        image: &Image,
        mut from: usize,
        place: usize,
        left: BitSlice,
    ) -> Compared {
        let (length, k) = (prefix.len(), self.k);
        let identity = &self.images[0];
        let mut less = BitSlice::ZERO;
        let mut equal = left;
        for place in place..self.n {
            let here = match (prefix.get(from), prefix.get(place)) {
                (Some(&letter), Some(to)) => match image.map[usize::from(letter)].cmp(to) {
                    Ordering::Equal => None,
                    order => {
                        if order == Ordering::Less {
                            less |= equal;
                        }
                        equal = BitSlice::ZERO;
                        break;
                    }
                },
                (None, Some(&to)) => Some(image.with_letter[(from - length) * k + usize::from(to)]),
                (Some(&letter), None) => {
                    let letter = usize::from(image.map[usize::from(letter)]);
                    let to = identity.with_letter[(place - length) * k + letter];
                    Some(Compared {
                        less: !(to.less | to.equal),
                        equal: to.equal,
                    })
                }
                (None, None) => {
                    Some(image.with_suffix[(from - length) * self.suffix + place - length])
                }
            };
            if let Some(here) = here {
                less |= equal & here.less;
                equal &= here.equal;
                if !equal.any() {
                    break;
                }
            }
            from = image.next(from, self.n);
        }
        Compared { less, equal }
    }
}

impl Image {
    /// Returns the cell that is read after `cell`.
    fn next(&self, cell: usize, n: usize) -> usize {
        match (self.reverse, cell) {
            (true, 0) => n - 1,
            (true, _) => cell - 1,
            (false, _) if cell + 1 == n => 0,
            (false, _) => cell + 1,
        }
    }
}
