//! How good is a model: splits, inner search, metrics, robustness to missing features.
