//! Properties over random inputs. `PROPTEST_CASES` sets how many.

mod stream;
