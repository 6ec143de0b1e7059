//! How a solver ended: what every iterative fit returns.

/// How a solver ended: every iterative fit returns one.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolverReport {
    /// Which solver ran.
    pub method: String,
    /// Whether the stopping rule was met before the iteration limit.
    pub converged: bool,
    /// Iterations used.
    pub iterations: usize,
    /// Final objective.
    pub objective: f64,
    /// Certificate: relative duality gap or optimality residual, named in `method`; `None` for closed forms.
    pub gap: Option<f64>,
    /// Mean slack `max(0, γ − log d_m)` of the training rows, for margins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
}
