//! Decide a law.
