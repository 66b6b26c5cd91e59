//! What the engine promises, one module a topic.
