//! The same results at every width of vector registers.

use pulp::{Scalar, Simd};

use super::super::simd::SimdTask;
use super::super::*;
use super::{TestStream, universes};
use crate::universe::Universe as _;

/// Takes a batch one step on with one set of instructions.
fn stepped<S: Simd>(simd: S, circuit: &Circuit, batch: &Batch) -> Batch {
    let (n, halo) = (batch.n, circuit.radius());
    let stride = n + 2 * halo;
    let mut now = vec![BitSlice::ZERO; stride * batch.bits];
    let mut next = vec![BitSlice::ZERO; stride * batch.bits];
    let mut room = vec![BitSlice::ZERO; circuit.room()];
    for (plane, cells) in now.chunks_mut(stride).zip(batch.planes.chunks(n)) {
        plane[halo..halo + n].copy_from_slice(cells);
        circuit::wrap(plane, halo);
    }
    simd.vectorize(SimdTask::Step {
        circuit,
        n,
        halo,
        now: &now,
        next: &mut next,
        room: &mut room,
    });
    let mut after = batch.clone();
    for (cells, plane) in after.planes.chunks_mut(n).zip(next.chunks_mut(stride)) {
        let written = plane.to_vec();
        circuit::wrap(plane, halo);
        assert_eq!(
            plane, written,
            "the halo repeats the cells at the other end"
        );
        cells.copy_from_slice(&plane[halo..halo + n]);
    }
    after
}

#[test]
fn every_set_of_instructions_gives_the_steps_of_the_simulator() {
    let mut draw = TestStream::new(11);
    for universe in universes() {
        let symbols = universe.alphabet().len();
        let circuit = Circuit::new(universe.rule());
        for n in [1, 2, 3, 7, 8, 9, 33, 64] {
            let mut batch = Batch::new(n, symbols);
            for lane in 0..LANES {
                batch.set(lane, &draw.state(n, symbols));
            }
            let after = stepped(Scalar, &circuit, &batch);
            for lane in 0..LANES {
                assert_eq!(after.get(lane), universe.step(&batch.get(lane)));
            }
            #[cfg(target_arch = "x86_64")]
            {
                use pulp::x86::{V2, V3, V4};
                let levels = [
                    V2::try_new().map(|simd| stepped(simd, &circuit, &batch)),
                    V3::try_new().map(|simd| stepped(simd, &circuit, &batch)),
                    V4::try_new().map(|simd| stepped(simd, &circuit, &batch)),
                ];
                assert!(levels.into_iter().flatten().all(|level| level == after));
            }
        }
    }
}
