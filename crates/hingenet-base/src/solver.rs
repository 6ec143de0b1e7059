//! When a solver stops and how it ended: what every iterative fit is given and returns.

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

impl SolverReport {
    /// How a solver without margins ended.
    pub fn new(
        method: impl Into<String>,
        converged: bool,
        iterations: usize,
        objective: f64,
        gap: Option<f64>,
    ) -> Self {
        SolverReport { method: method.into(), converged, iterations, objective, gap, slack: None }
    }
}

/// When an iterative solver stops; each says what its tolerance measures and what an iteration is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// The solver has converged once its measure is at most this.
    pub tolerance: f64,
    /// Most iterations.
    pub max_iterations: usize,
}
