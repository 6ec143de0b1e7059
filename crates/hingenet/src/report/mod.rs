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

// for the program and its pages
#[doc(hidden)]
pub use describe::choice_words;
pub use evaluation::{Evaluation, ModelResult};
pub use figure::{Caption, Curve, CurveFigure, HeatMap};
pub use hingenet_gaussian::study::{Chance, Change};
pub use importance::{Dot, FeatureImportance, Importance};
pub use model::{Decision, ModelReport, NodeTable, Origin};
pub use network::{
    ArcChange, ClassNetwork, NetworkArc, NetworkDifference, NetworkNode, NetworkReport, WeightDifference,
};
pub use picture::{NetworkPicture, PictureArc, PictureNode};
pub use study::{
    ClassCurves, DataFindings, Difference, EvaluationReport, Headline, ModelStudy, Reliability, Share,
    TradeOff,
};

// Fields of the above that nobody needs to name.
pub(crate) use evaluation::{
    BalancedError, ClassResult, Counts, CurvePoint, DataFacts, FORMAT, FailedModel, FoldAccuracy, Interval,
    MissingPoint, PairTest, Proportion, ProtocolFacts, RowPrediction, SignedRanks, SweepPoint, TermResult,
    Tested, ThresholdPoint,
};
pub(crate) use model::{DecisionValue, FeatureCuts, TableRow};
pub(crate) use study::{
    ColumnBin, ColumnFacts, MarginHistogram, Mistake, ReliabilityBin, Reproduction, Verdict,
};
