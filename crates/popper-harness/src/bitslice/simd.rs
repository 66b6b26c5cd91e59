//! The inner loops, compiled once for every instruction set.

use pulp::{Arch, Simd, WithSimd};

use super::circuit::Circuit;
use super::compile::{BitProgramSection, Instr};
use super::number::execute;
use super::observe::{self, Cube};
use super::wide::{Column, Registers};
use super::word::BitSlice;

/// A local transition.
#[derive(Debug, Clone)]
pub(super) struct LocalTransition {
    /// The symbols of the cell (first) and of its neighbours, each with its distance to the right.
    pub around: Vec<(usize, Cube)>,
    /// The parity of the cell's index.
    pub parity: Option<u8>,
    /// Whether the cell must become `result`; otherwise it must not.
    pub equal: bool,
    pub result: Cube,
    /// The number of registers of a counter of the cells.
    pub counter: u32,
}

/// A task that is compiled for every instruction set; the best one is chosen when it runs.
pub(super) enum SimdTask<'a> {
    Step {
        circuit: &'a Circuit,
        n: usize,
        halo: usize,
        now: &'a [BitSlice],
        next: &'a mut [BitSlice],
        room: &'a mut [BitSlice],
    },
    Execute {
        section: &'a BitProgramSection,
        now: observe::StatePlanes<'a>,
        next: observe::StatePlanes<'a>,
        buffer: &'a mut [BitSlice],
        registers: &'a mut [BitSlice],
        t: u64,
    },
    /// Adds the lanes with a symbol of a set to `unusual`, and those with a mover near the seam to `wrapped`.
    Cover {
        forbidden: &'a [Cube],
        bits: u8,
        now: observe::StatePlanes<'a>,
        unusual: &'a mut BitSlice,
        wrapped: &'a mut BitSlice,
    },
    /// Collects the triggered cells in `buffer`, counts them in `counter`, and adds their lanes to `asked`.
    ///
    /// `wrong` gets the lanes where a triggered cell becomes one of `result` (or, if `equal`, does not).
    Local {
        question: &'a LocalTransition,
        now: observe::StatePlanes<'a>,
        next: observe::StatePlanes<'a>,
        buffer: &'a mut [BitSlice],
        became: &'a mut [BitSlice],
        counter: &'a mut [BitSlice],
        asked: &'a mut BitSlice,
        wrong: &'a mut BitSlice,
    },
    /// Counts in how many cells each lane is set.
    Count {
        cells: &'a [BitSlice],
        out: &'a mut [BitSlice],
    },
}

/// Counts in how many cells each lane is set, as a number of `out.len()` bits, which must suffice.
pub(super) fn count(cells: &[BitSlice], out: &mut [BitSlice]) {
    Arch::new().dispatch(SimdTask::Count { cells, out });
}

impl WithSimd for SimdTask<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self {
            Self::Step {
                circuit,
                n,
                halo,
                now,
                next,
                room,
            } => circuit.step(simd, n, halo, now, next, room),
            Self::Execute {
                section,
                now,
                next,
                buffer,
                registers,
                t,
            } => {
                for column in Column::all(simd) {
                    let mut registers = Registers::new(registers, column);
                    for instruction in &section.code {
                        match instruction {
                            Instr::Compute(operation) => execute(operation, &mut registers, t),
                            Instr::Reading(reading) => {
                                observe::read(reading, &now, &next, buffer, &mut registers);
                            }
                        }
                    }
                }
            }
            Self::Cover {
                forbidden,
                bits,
                now,
                unusual,
                wrapped,
            } => {
                let near = now.halo.min(now.n);
                for column in Column::all(simd) {
                    let mut any = column.get(unusual);
                    for cube in forbidden {
                        any = any | cube.anywhere(column, &now);
                    }
                    column.put(unusual, any);
                    let mut any = column.get(wrapped);
                    for bit in 0..bits {
                        let plane = now.plane(bit);
                        for cell in plane[..near].iter().chain(&plane[now.n - near..]) {
                            any = any | column.get(cell);
                        }
                    }
                    column.put(wrapped, any);
                }
            }
            Self::Local {
                question,
                now,
                next,
                buffer,
                became,
                counter,
                asked,
                wrong,
            } => {
                for column in Column::all(simd) {
                    for (index, (offset, cube)) in question.around.iter().enumerate() {
                        cube.narrow(column, &now, *offset, index == 0, buffer);
                    }
                    question.result.narrow(column, &next, 0, true, became);
                    let flip = column.splat(question.equal);
                    let (mut some, mut bad) = (column.zero(), column.zero());
                    for (index, (cell, became)) in buffer.iter_mut().zip(&*became).enumerate() {
                        let counts = question.parity.is_none_or(|p| index % 2 == usize::from(p));
                        let here = column.get(cell) & column.splat(counts);
                        column.put(cell, here);
                        some = some | here;
                        bad = bad | (here & (column.get(became) ^ flip));
                    }
                    column.put(asked, some);
                    column.put(wrong, bad);
                    observe::count(
                        column,
                        now.n,
                        #[inline(always)]
                        |cell: usize| column.get(&buffer[cell]),
                        counter,
                    );
                }
            }
            Self::Count { cells, out } => {
                for column in Column::all(simd) {
                    observe::count(
                        column,
                        cells.len(),
                        #[inline(always)]
                        |cell| column.get(&cells[cell]),
                        out,
                    );
                }
            }
        }
    }
}
