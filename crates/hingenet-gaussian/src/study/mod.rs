//! Networks learnt for their own sake, not to classify: one for a table, or one for each class of its target, on values
//! standardised over all rows, so that the weights of different classes compare. Rows are sorted first: their order in
//! the file never matters. A row of weight 2 counts as two rows.

mod confidence;
mod contrast;
mod difference;
mod moments;

pub use confidence::{ArcConfidence, Resampling, RunArcs, arc_confidence};
pub use contrast::{Chance, ClassRows, Contrast, ContrastParams, Contrasts, contrasts};
pub use difference::{ArcDifference, Change, GroupTable, degrees, difference_network, group_table};
pub use moments::study_moments;

use crate::features::{self, FeatureMap};
use crate::network::GaussianNetwork;
use crate::structure::{
    ALPHA, Constraints, LAMBDA1_PER_ROW, Method, SearchParams, Start, StructureFit, StructureMethod,
    check_alpha,
};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::rows::check_weights;
use hingenet_data::table::{Codes, ColumnData, NumberRows, Table};
use std::cmp::Ordering;

/// Settings of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyParams {
    /// How graphs are learnt.
    pub method: StructureMethod,
    /// Penalty λ1 > 0 of an arc (OR and H); `None` takes 0.6 for each row of the class.
    pub lambda1: Option<f64>,
    /// Where OR begins.
    pub start: Start,
    /// Level of independence tests; `None` takes 0.05.
    pub alpha: Option<f64>,
    /// Settings of the order search; its seed is also that of the draws.
    pub search: SearchParams,
    /// An arc is reported when its weight exceeds this (Section 5.4 of the paper).
    pub cutoff: f64,
    /// How, and how many times, the rows are drawn again to see how sure the arcs are.
    pub resampling: Option<(Resampling, usize)>,
    /// How differences between classes are judged; `None` leaves them out.
    pub contrast: Option<ContrastParams>,
}

impl Default for StudyParams {
    fn default() -> Self {
        StudyParams {
            method: StructureMethod::Search,
            lambda1: None,
            start: Start::default(),
            alpha: None,
            search: SearchParams::default(),
            cutoff: 0.01,
            resampling: None,
            contrast: None,
        }
    }
}

impl StudyParams {
    /// Refuses values outside their ranges.
    pub fn check(&self) -> Result<()> {
        if let Some(lambda1) = self.lambda1 {
            require("lambda1", lambda1, "a finite number > 0", lambda1.is_finite() && lambda1 > 0.0)?;
            require("lambda1", lambda1, "nothing: this method has no lambda1", self.method.has_lambda1())?;
        }
        if let Some(alpha) = self.alpha {
            check_alpha(alpha)?;
            let used = matches!(self.method, StructureMethod::Tests(_));
            require("alpha", alpha, "nothing: this method makes no tests", used)?;
        }
        let starts = matches!(self.method, StructureMethod::Or | StructureMethod::OrPrinted);
        require(
            "start",
            "l1mb",
            "a method that has one: or, or-printed",
            self.start == Start::Lasso || starts,
        )?;
        self.search.check()?;
        self.contrast.map_or(Ok(()), |c| c.check())?;
        let cutoff = self.cutoff;
        require("cutoff", cutoff, "a finite number >= 0", cutoff.is_finite() && cutoff >= 0.0)?;
        let runs = self.resampling.map_or(1, |(_, runs)| runs);
        require("resampled data sets", runs, "at least 1", runs >= 1)
    }
}

/// The network of one class.
#[derive(Debug, Clone)]
pub struct ClassStudy {
    /// Name of the class; `None` without a target.
    pub class: Option<String>,
    /// Number of rows.
    pub rows: usize,
    /// How it was learnt.
    pub method: StructureMethod,
    /// λ1 that was used (OR and H).
    pub lambda1: Option<f64>,
    /// The graph, its class and how the solver ended.
    pub structure: StructureFit,
    /// The network with variances.
    pub network: GaussianNetwork,
    /// Log-likelihood of the rows (of their observed cells) on standardised values.
    pub log_likelihood: f64,
    /// How sure the arcs are.
    pub confidence: Option<ArcConfidence>,
}

impl ClassStudy {
    /// BIC of the class of the graph, for the order search.
    pub fn score(&self) -> Option<f64> {
        (self.method == StructureMethod::Search).then_some(self.structure.report.objective)
    }
}

/// The networks of a table.
#[derive(Debug, Clone)]
pub struct NetworkStudy {
    /// How columns became nodes.
    pub features: FeatureMap,
    /// What was known about the arcs.
    pub constraints: Constraints,
    /// One network a class.
    pub classes: Vec<ClassStudy>,
    /// How each other class differs from the first.
    pub contrasts: Vec<Contrasts>,
}

/// Names of the nodes that a table has: known before anything is learnt, so that constraints can speak of them.
pub fn node_names(table: &Table) -> Result<Vec<String>> {
    Ok(FeatureMap::learn(table, None)?.node_names())
}

/// Learns one network, or one for each class that has rows. `class` holds the codes and the names of the classes.
pub fn study_networks(
    table: &Table,
    weights: Option<&[f64]>,
    class: Option<(&Codes, &[String])>,
    constraints: &Constraints,
    params: &StudyParams,
    control: &Control,
) -> Result<NetworkStudy> {
    params.check()?;
    if let Some(weights) = weights {
        check_weights(weights, table.n_rows())?;
    }
    let classes = class.map_or(1, |(_, names)| names.len());
    features::reserve(table, classes, control)?;
    let order = sorted_rows(table);
    let table = table.rows(&order);
    let weights: Vec<f64> = order.iter().map(|&a| weights.map_or(1.0, |w| w[a])).collect();
    let features = FeatureMap::learn(&table, Some(&weights))?;
    let x = features.encode(&table)?;
    check_nodes(&features, constraints, control)?;
    let constraints = &own_columns_apart(&features, constraints);
    let learner = Learner { params, constraints, control };
    let mut contrasts = Vec::new();
    let classes = match class {
        None => vec![learner.learn(&x, &weights, None)?.0],
        Some((codes, names)) => {
            require_len("class labels", order.len(), codes.len())?;
            let codes: Vec<Option<usize>> = order.iter().map(|&a| codes.get(a)).collect();
            let (classes, rows): (Vec<_>, Vec<_>) =
                by_class(&x, &weights, &codes, names, &learner)?.into_iter().unzip();
            contrasts = learner.contrasts(&rows)?;
            classes
        }
    };
    Ok(NetworkStudy { features, constraints: constraints.clone(), classes, contrasts })
}

/// How each other class differs from the first, judged on rows whose classes are known: on values as `features`
/// standardises them, with missing cells completed by the network of the row's class. Whatever learnt these networks,
/// the graph that two classes share is found by the order search.
pub fn judge_classes(
    (features, networks): (&FeatureMap, &[GaussianNetwork]),
    table: &Table,
    class: &[Option<usize>],
    seed: u64,
    contrast: ContrastParams,
    control: &Control,
) -> Result<Vec<Contrasts>> {
    require_len("classes of rows", table.n_rows(), class.len())?;
    features::reserve(table, networks.len(), control)?;
    let order = sorted_rows(table);
    let x = features.encode(&table.rows(&order))?;
    let complete = |(c, network): (usize, &GaussianNetwork)| {
        let rows: Vec<usize> = (0..order.len()).filter(|&a| class[order[a]] == Some(c)).collect();
        let weights = vec![1.0; rows.len()];
        Ok((completed(&x.select_rows(&rows), &weights, network)?.0, weights))
    };
    let classes = networks.iter().enumerate().map(complete).collect::<Result<Vec<_>>>()?;
    let constraints = &own_columns_apart(features, &Constraints::none(x.cols()));
    let search = SearchParams { seed, ..SearchParams::default() };
    let params = &StudyParams { search, contrast: Some(contrast), ..StudyParams::default() };
    Learner { params, constraints, control }.contrasts(&classes)
}

/// Indicators of one column exclude each other by construction: an arc between them would tell nothing.
fn own_columns_apart(features: &FeatureMap, constraints: &Constraints) -> Constraints {
    let column = |node: usize| features.nodes()[node].column;
    constraints.apart(|i, j| column(i) == column(j))
}

fn by_class(
    x: &Matrix,
    weights: &[f64],
    codes: &[Option<usize>],
    names: &[String],
    learner: &Learner<'_>,
) -> Result<Vec<(ClassStudy, CompleteRows)>> {
    if codes.contains(&None) {
        return Err(Error::data("a row has no class", "drop rows without a label"));
    }
    let mut classes = Vec::new();
    for (c, name) in names.iter().enumerate() {
        let rows: Vec<usize> = (0..codes.len()).filter(|&a| codes[a] == Some(c)).collect();
        if rows.is_empty() {
            learner.control.warn(&format!("class `{name}` has no rows and is left out"));
            continue;
        }
        let own: Vec<f64> = rows.iter().map(|&a| weights[a]).collect();
        classes.push(learner.learn(&x.select_rows(&rows), &own, Some(name))?);
    }
    Ok(classes)
}

/// Row numbers sorted by content, column by column; missing cells last.
fn sorted_rows(table: &Table) -> Vec<usize> {
    let compare = |a: usize, b: usize| {
        let by_column = table.columns().iter().map(|column| match column.data() {
            ColumnData::Numeric(n) => n.with_nan()[a].total_cmp(&n.with_nan()[b]),
            ColumnData::Categorical(c) => c.codes().get(a).cmp(&c.codes().get(b)),
        });
        by_column.fold(Ordering::Equal, Ordering::then)
    };
    let mut order: Vec<usize> = (0..table.n_rows()).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

fn check_nodes(features: &FeatureMap, constraints: &Constraints, control: &Control) -> Result<()> {
    let nodes = features.nodes().len();
    if nodes < 2 {
        return Err(Error::data(
            format!("a network needs at least 2 nodes, found {nodes}"),
            "add columns; a categorical column with K categories makes K - 1 nodes",
        ));
    }
    require_len("nodes of the constraints", nodes, constraints.nodes())?;
    for (k, node) in features.nodes().iter().enumerate() {
        if node.scale == 0.0 {
            control.warn(&format!("`{}` is constant: it stays without arcs", features.node_name(k)));
        }
    }
    Ok(())
}

fn of_class(class: Option<&String>) -> String {
    class.map(|c| format!("class `{c}`: ")).unwrap_or_default()
}

/// Complete rows and their weights.
type CompleteRows = (Matrix, Vec<f64>);

/// Learns the network of a set of rows.
struct Learner<'a> {
    params: &'a StudyParams,
    constraints: &'a Constraints,
    control: &'a Control,
}

impl Learner<'_> {
    fn learn(
        &self,
        x: &Matrix,
        weights: &[f64],
        class: Option<&String>,
    ) -> Result<(ClassStudy, CompleteRows)> {
        let (lambda1, method) = self.prepared(weights.iter().sum(), class)?;
        let (moments, structure) = method.learn_rows(x, weights, self.constraints, self.control)?;
        self.warn_of(&structure, class);
        let network = GaussianNetwork::from_structure(&structure, &moments)?;
        let (complete, log_likelihood) = completed(x, weights, &network)?;
        let study = ClassStudy {
            class: class.cloned(),
            rows: x.rows(),
            method: self.params.method,
            lambda1,
            confidence: self.confidence(x, weights, &complete, lambda1)?,
            structure,
            network,
            log_likelihood,
        };
        Ok((study, (complete, weights.to_vec())))
    }

    /// λ1 and the method for rows of this total weight.
    fn prepared(&self, total: f64, class: Option<&String>) -> Result<(Option<f64>, Method)> {
        if total < 2.0 {
            return Err(Error::data(
                format!("{}a network needs at least 2 rows, found {total}", of_class(class)),
                "add rows, or merge rare classes",
            ));
        }
        let lambda1 = (self.params.method.has_lambda1())
            .then(|| self.params.lambda1.unwrap_or(LAMBDA1_PER_ROW * total));
        Ok((lambda1, self.method(lambda1.unwrap_or(1.0))))
    }

    fn warn_of(&self, structure: &StructureFit, class: Option<&String>) {
        if structure.report.converged {
            return;
        }
        let problem = match self.params.method {
            StructureMethod::Search => {
                "the order search still found better graphs in the last third of its rounds; more of them (`--rounds`) \
                 may find another"
                    .into()
            }
            _ => format!("{} did not converge", structure.report.method),
        };
        self.control.warn(&format!("{}{problem}", of_class(class)));
    }

    /// How each other class differs from the first.
    fn contrasts(&self, classes: &[CompleteRows]) -> Result<Vec<Contrasts>> {
        let (Some(params), Some((first, others))) = (self.params.contrast, classes.split_first()) else {
            return Ok(Vec::new());
        };
        let total = |rows: &CompleteRows| rows.1.iter().sum::<f64>();
        let few = |rows: &CompleteRows| rows.1.len() < contrast::FEWEST_ROWS;
        if classes.iter().any(few) {
            self.control.warn(&format!(
                "a class of fewer than {} rows is not compared: its differences would be chance",
                contrast::FEWEST_ROWS
            ));
        }
        let compare = |(k, other): (usize, &CompleteRows)| {
            let per_row = self.params.lambda1.map(|l| 2.0 * l / (total(first) + total(other)));
            let method = self.method(per_row.unwrap_or(LAMBDA1_PER_ROW));
            let rows = [first, other].map(|(x, weights)| (x, &weights[..]));
            let cutoff = self.params.cutoff;
            contrasts(k + 1, rows, &method, self.constraints, cutoff, params, self.control)
        };
        let compared = others.iter().enumerate().filter(|(_, other)| !few(first) && !few(other));
        compared.map(compare).collect()
    }

    fn method(&self, lambda1: f64) -> Method {
        let StudyParams { method, start, alpha, search, .. } = self.params;
        Method {
            kind: *method,
            lambda1,
            start: *start,
            alpha: alpha.unwrap_or(ALPHA),
            search: search.clone(),
        }
    }

    /// Learns again on resampled rows. λ1 grows with the number of rows, so half samples take half of it.
    fn confidence(
        &self,
        x: &Matrix,
        weights: &[f64],
        complete: &Matrix,
        lambda1: Option<f64>,
    ) -> Result<Option<ArcConfidence>> {
        let Some(resampling) = self.params.resampling else { return Ok(None) };
        if x.data().iter().any(|v| v.is_nan()) {
            self.control.warn(
                "missing cells are replaced by their conditional means before the rows are drawn again: \
                 shares of arcs may be too high",
            );
        }
        let share = if resampling.0 == Resampling::HalfSamples { 0.5 } else { 1.0 };
        let method = self.method(share * lambda1.unwrap_or(1.0));
        let cutoff = self.params.cutoff;
        arc_confidence(complete, weights, &method, self.constraints, resampling, cutoff, self.control)
            .map(Some)
    }
}

/// The rows with missing cells replaced by their means given the observed ones, and the log-likelihood of the latter.
fn completed(x: &Matrix, weights: &[f64], network: &GaussianNetwork) -> Result<(Matrix, f64)> {
    let rows = NumberRows::new(x.data(), x.cols())?;
    let log_likelihood = network.log_densities(&rows)?.iter().zip(weights).map(|(l, w)| w * l).sum();
    Ok((Matrix::from_vec(x.rows(), x.cols(), network.completed(&rows)?)?, log_likelihood))
}
