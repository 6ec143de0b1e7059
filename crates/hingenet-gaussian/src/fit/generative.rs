//! Networks that nothing is learnt after: OR-SGBN, H-SGBN and order search as they are. They need the moments of the
//! classes alone, which are gathered as whole numbers ([`ExactMoments`]), so that rows that come in pieces give the
//! networks of the whole table. λ1, where it is open, is chosen on the rows, or on some of them if there are many.

use super::rows::{Sample, require_two_nodes};
use super::select::{self, row_weight, usual_lambda1};
use super::{ClassFit, GaussianClassifier, networks_of, priors};
use crate::exact::{ExactMoments, NodeGrids};
use crate::features::reserve_nodes;
use crate::moments::Moments;
use crate::params::{Decision, GaussianParams, Learning};
use crate::structure::Constraints;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::pieces::{MOST_ROWS, RowSample, whole_weights};
use hingenet_data::rows::{Rows, require_class_rows};
use hingenet_data::select::Fit;
use hingenet_data::table::Schema;
use std::collections::BTreeMap;

/// Rows whose nodes are at hand at a time.
const AT_A_TIME: usize = 1 << 14;

/// The moments of a table with what its columns are.
pub struct MomentTable {
    /// The columns.
    pub schema: Schema,
    /// Their nodes.
    pub grids: NodeGrids,
    /// The moments of each class.
    pub moments: ExactMoments,
}

impl MomentTable {
    /// Names of the nodes.
    pub fn node_names(&self) -> Result<Vec<String>> {
        Ok(self.moments.finish(&self.grids, &self.schema)?.0.node_names())
    }

    /// Those of complete rows with whole weights, else `None`.
    pub(super) fn of(rows: &Rows<'_>, control: &Control) -> Result<Option<Self>> {
        let features = rows.features();
        let (Ok(weights), 0) = (whole_weights(rows.dataset()), features.n_missing()) else { return Ok(None) };
        let schema = Schema::of(features);
        let grids = NodeGrids::new(&schema, &features.ranges());
        reserve_nodes(rows.n_rows().min(MOST_ROWS), grids.len(), rows.n_classes(), control)?;
        let class = rows.class_codes();
        let places: Vec<usize> = (0..rows.n_rows()).collect();
        let mut moments: Option<ExactMoments> = None;
        for some in places.chunks(AT_A_TIME) {
            let range = some[0]..some[0] + some.len();
            let (class, weights) = (&class[range.clone()], &weights[range]);
            let more = ExactMoments::of(&grids, &features.rows(some), class, weights, rows.n_classes())?;
            match &mut moments {
                None => moments = Some(more),
                Some(all) => all.merge(&more)?,
            }
        }
        Ok(moments.map(|moments| MomentTable { schema, grids, moments }))
    }
}

/// Whether moments are all that the networks are learnt from.
pub fn is_of_moments(params: &GaussianParams) -> bool {
    params.learning == Learning::Generative && params.decision == Decision::Network
}

/// Whether rows are needed to choose λ1.
pub fn needs_rows(params: &GaussianParams) -> bool {
    params.tuning.lambda1.is_none() && params.structure.has_lambda1()
}

/// The fit to rows in memory.
pub(super) fn fit_rows(
    rows: &Rows<'_>,
    table: &MomentTable,
    params: &GaussianParams,
    control: &Control,
) -> Result<Fit<GaussianClassifier>> {
    let classes = rows.classes();
    if !needs_rows(params) {
        return fit_moments(table, classes, None, params, control);
    }
    if rows.n_rows() <= MOST_ROWS {
        return fit_moments(table, classes, Some(rows), params, control);
    }
    let class_rows: Vec<u64> = table.moments.classes.iter().map(|c| c.rows).collect();
    let some = Rows::of(&RowSample::of(rows.dataset(), MOST_ROWS)?.finish(&class_rows))?;
    fit_moments(table, classes, Some(&some), params, control)
}

/// The fit to the moments of the classes, which have these names; `rows` are those to choose λ1 on, where [`needs_rows`] says so.
pub fn fit_moments(
    table: &MomentTable,
    classes: &[String],
    rows: Option<&Rows<'_>>,
    params: &GaussianParams,
    control: &Control,
) -> Result<Fit<GaussianClassifier>> {
    params.check()?;
    require_two_nodes(table.grids.len())?;
    for (class, sums) in
        classes.iter().zip(&table.moments.classes).filter(|(_, c)| c.rows > 0 && !params.tiny_classes)
    {
        require_class_rows(class, sums.rows as f64, 2.0, "its network needs 2")?;
    }
    reserve_nodes(0, table.grids.len(), table.moments.classes.len(), control)?;
    let (features, classes) = table.moments.finish(&table.grids, &table.schema)?;
    let sizes: Vec<f64> = classes.iter().map(|class| class.rows).collect();
    let (lambda1, chosen) = lambda1(rows, &sizes, params, control)?;
    let method = params.method(lambda1);
    let (free, silent) = (Constraints::none(table.grids.len()), control.quiet());
    let learn = |class: Moments| -> Result<ClassFit> {
        if class.rows < 2.0 {
            return Ok(Err(class.mean)); // of one row, or none
        }
        let fit = method.learn(&class, &free, &silent)?;
        Ok(Ok((class, fit)))
    };
    let found = classes.into_iter().map(learn).collect::<Result<_>>()?;
    let (networks, reports) = networks_of(found, params, lambda1, control)?;
    let prior = priors(&sizes, params.priors);
    let model = GaussianClassifier { features, networks, prior, machine: None, start: None };
    Ok(Fit { model, reports, chosen })
}

/// λ1 for classes of these sizes; what some rows choose is a share of their number.
fn lambda1(
    rows: Option<&Rows<'_>>,
    sizes: &[f64],
    params: &GaussianParams,
    control: &Control,
) -> Result<(f64, BTreeMap<String, f64>)> {
    let (None, Some(rows)) = (params.tuning.lambda1, rows) else {
        return Ok((params.tuning.lambda1.unwrap_or_else(|| usual_lambda1(sizes)), BTreeMap::new()));
    };
    let (_, sample) = Sample::new(rows)?;
    let of_rows = sample.class_weights();
    let choice = select::on(&sample, params, control)?;
    let scale = row_weight(sizes) / row_weight(&of_rows);
    let chosen = choice.chosen.into_iter().map(|(key, value)| (key, value * scale)).collect();
    Ok((choice.point.lambda1 * scale, chosen))
}
