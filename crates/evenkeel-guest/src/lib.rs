//! The guest correctness suite lives in `tests/`.
