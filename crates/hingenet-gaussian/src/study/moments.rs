//! The same networks from the moments of the classes alone: rows that come in pieces need not be at hand. Whatever draws
//! rows again, or shuffles their classes, does need them.

use super::{ClassStudy, Learner, NetworkStudy, StudyParams, check_nodes, own_columns_apart};
use crate::features::reserve_nodes;
use crate::fit::MomentTable;
use crate::moments::Moments;
use crate::network::GaussianNetwork;
use crate::structure::{Constraints, StructureFit};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};

/// Learns one network from all rows, or one for each of the named classes that has rows.
pub fn study_moments(
    table: &MomentTable,
    classes: Option<&[String]>,
    constraints: &Constraints,
    params: &StudyParams,
    control: &Control,
) -> Result<NetworkStudy> {
    params.check()?;
    if params.resampling.is_some() || params.contrast.is_some() {
        return Err(Error::data(
            "rows that come in pieces cannot be drawn again, nor their classes shuffled",
            "leave out resampling and the comparison of classes, or allow more memory",
        ));
    }
    reserve_nodes(0, table.grids.len(), table.moments.classes.len(), control)?;
    let (features, moments) = table.moments.finish(&table.grids, &table.schema)?;
    check_nodes(&features, constraints, control)?;
    let constraints = &own_columns_apart(&features, constraints);
    let learner = Learner { params, constraints, control };
    let mut studies = Vec::new();
    for (c, moments) in moments.iter().enumerate() {
        let class = classes.and_then(|names| names.get(c));
        if let (Some(name), 0.0) = (class, moments.rows) {
            control.warn(&format!("class `{name}` has no rows and is left out"));
            continue;
        }
        studies.push(learner.learn_moments(moments, class)?);
    }
    Ok(NetworkStudy { features, constraints: constraints.clone(), classes: studies, contrasts: Vec::new() })
}

impl Learner<'_> {
    fn learn_moments(&self, moments: &Moments, class: Option<&String>) -> Result<ClassStudy> {
        let (lambda1, method) = self.prepared(moments.rows, class)?;
        let structure = method.learn(moments, self.constraints, self.control)?;
        self.warn_of(&structure, class);
        let network = GaussianNetwork::from_structure(&structure, moments)?;
        Ok(ClassStudy {
            class: class.cloned(),
            rows: moments.rows as usize,
            method: self.params.method,
            lambda1,
            confidence: None,
            log_likelihood: log_likelihood(&structure, &network, moments.rows),
            structure,
            network,
        })
    }
}

/// `−½ Σ_j (n ln 2πσ_j² + ‖r_j‖²/σ_j²)`: residuals have mean 0, so their squares are all that is needed.
fn log_likelihood(structure: &StructureFit, network: &GaussianNetwork, rows: f64) -> f64 {
    let errors = structure.squared_error.iter().zip(network.variance());
    let node = |(error, v): (&f64, &f64)| rows * (std::f64::consts::TAU * v).ln() + error / v;
    -0.5 * errors.map(node).sum::<f64>()
}
