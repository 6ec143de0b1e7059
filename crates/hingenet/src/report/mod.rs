//! Results as plain data; other crates draw them. The JSON of an [`Evaluation`] is what
//! `hingenet evaluate --json` writes, an [`EvaluationReport`] adds what its page shows, and a
//! [`ModelReport`] is the page of a fitted model.

mod density;
mod describe;
mod evaluation;
mod figure;
mod importance;
mod model;
mod network;
mod picture;
mod pool;
mod study;

pub use describe::choice_words;
pub use evaluation::{
    BalancedError, DataFacts, Evaluation, FailedModel, FoldAccuracy, MissingPoint, ModelResult,
    ProtocolFacts, SweepPoint, TermResult,
};
pub use figure::{Caption, Curve, CurveFigure, HeatMap};
pub use hingenet_base::graph::ArcErrors;
pub use hingenet_gaussian::study::{ArcDifference, Change, GroupTable};
pub use importance::{Dot, FeatureImportance, Importance};
pub use model::{Decision, DecisionValue, FeatureCuts, ModelReport, NodeTable, Origin, TableRow};
pub use network::{
    ArcChange, ArcShare, Chance, ClassNetwork, NetworkArc, NetworkDifference, NetworkNode, NetworkReport,
    WeightDifference,
};
pub use picture::{NetworkPicture, PictureArc, PictureNode};
pub use study::{
    ClassCurves, DataFindings, Difference, EvaluationReport, Headline, MarginHistogram, ModelStudy,
    Reliability, ReliabilityBin, Reproduction, Share, TradeOff, Verdict,
};
