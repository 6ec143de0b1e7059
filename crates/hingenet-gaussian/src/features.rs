//! From a table to nodes: a numeric column is one node, standardised on the pooled training rows (mean 0, deviation 1
//! with divisor n − 1); a categorical column with K categories is K − 1 indicator nodes (all categories but the last),
//! standardised alike. A constant column becomes zeros. A missing cell makes all nodes of its column missing.

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::argmax;
use hingenet_data::encode::{Divisor, Standard};
use hingenet_data::table::{Codes, Column, ColumnData, Schema, Table};

/// What one node holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Node {
    /// Position of the column.
    pub column: usize,
    /// Category the node indicates; `None` for a numeric column.
    pub category: Option<usize>,
    /// Mean over the training rows.
    pub mean: f64,
    /// Deviation over the training rows; 0 for a constant column.
    pub scale: f64,
}

impl Node {
    /// Mean and deviation of the node.
    fn standard(&self) -> Standard {
        Standard { mean: self.mean, sd: self.scale }
    }
}

/// How columns become nodes; learnt on training rows only.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FeatureMap {
    nodes: Vec<Node>,
    names: Vec<String>,
    /// Category names of each column; empty for a numeric one.
    categories: Vec<Vec<String>>,
    /// Whether each column holds categories.
    is_categorical: Vec<bool>,
}

impl FeatureMap {
    /// Nodes of these columns.
    pub(crate) fn new(nodes: Vec<Node>, schema: &Schema) -> Self {
        let categories = schema.features.iter().map(|f| f.kind.categories());
        FeatureMap {
            nodes,
            names: schema.features.iter().map(|f| f.name.clone()).collect(),
            is_categorical: categories.clone().map(|c| c.is_some()).collect(),
            categories: categories.map(|c| c.unwrap_or_default().to_vec()).collect(),
        }
    }

    /// Learns means and deviations from the weighted rows.
    pub fn learn(table: &Table, weights: Option<&[f64]>) -> Result<Self> {
        let names_of = |column: &Column| column.as_categorical().map(|c| c.categories().to_vec());
        let categories: Vec<Option<Vec<String>>> = table.columns().iter().map(names_of).collect();
        let places = places_of(table);
        require_room(1, places.len())?;
        let node = |(column, category)| Node { column, category, mean: 0.0, scale: 0.0 };
        let mut nodes: Vec<Node> = places.into_iter().map(node).collect();
        let columns = raw_columns(table, &nodes)?;
        if let Some(weights) = weights {
            require_len("sample weights", table.n_rows(), weights.len())?;
        }
        for (node, numbers) in nodes.iter_mut().zip(columns.iter().filter_map(Column::as_numeric)) {
            let standard = Standard::learn(numbers.with_nan(), weights, Divisor::OneLess);
            (node.mean, node.scale) = (standard.mean, standard.sd);
        }
        Ok(FeatureMap {
            nodes,
            names: table.columns().iter().map(|c| c.name().to_string()).collect(),
            is_categorical: categories.iter().map(Option::is_some).collect(),
            categories: categories.into_iter().map(Option::unwrap_or_default).collect(),
        })
    }

    /// Refuses a map (read from a file) that is not one of these columns.
    pub(crate) fn check(&self, schema: &Schema) -> Result<()> {
        let Schema { features } = schema;
        let of_schema: Vec<&[String]> = features.iter().map(|f| f.kind.categories().unwrap_or(&[])).collect();
        let nodes: Vec<(usize, Option<usize>)> = self.nodes.iter().map(|n| (n.column, n.category)).collect();
        let fits = self.names.iter().eq(features.iter().map(|f| &f.name))
            && self.is_categorical.iter().copied().eq(features.iter().map(|f| f.kind.categories().is_some()))
            && self.categories == of_schema
            && nodes == node_places(features.iter().map(|f| f.kind.categories().map(<[String]>::len)))
            && self.nodes.iter().all(|node| node.standard().is_possible());
        if fits {
            Ok(())
        } else {
            Err(Error::model_file("the nodes of the networks are not those of the columns"))
        }
    }

    /// The nodes in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Name of a node: the column, with `=category` for an indicator.
    pub fn node_name(&self, node: usize) -> String {
        let n = &self.nodes[node];
        match n.category {
            None => self.names[n.column].clone(),
            Some(c) => format!("{}={}", self.names[n.column], self.categories[n.column][c]),
        }
    }

    /// Names of all nodes.
    pub fn node_names(&self) -> Vec<String> {
        (0..self.nodes.len()).map(|k| self.node_name(k)).collect()
    }

    /// Number of columns a table must have.
    pub fn columns(&self) -> usize {
        self.names.len()
    }

    /// Rows as standardised nodes; NaN is missing.
    pub fn encode(&self, table: &Table) -> Result<Matrix> {
        require_len("columns of the table", self.columns(), table.n_columns())?;
        let mut x = Matrix::zeros(table.n_rows(), self.nodes.len());
        for (k, column) in raw_columns(table, &self.nodes)?.iter().enumerate() {
            let Some(values) = column.as_numeric() else { continue };
            let standard = self.nodes[k].standard();
            for (a, v) in values.with_nan().iter().enumerate() {
                x[(a, k)] = standard.score(*v);
            }
        }
        Ok(x)
    }

    /// Rows of nodes back as a table; a category is the one with the largest indicator, the last one having what the
    /// others leave of 1.
    pub fn decode(&self, rows: &[Vec<f64>]) -> Result<Table> {
        let columns = (0..self.columns()).map(|c| {
            let nodes: Vec<usize> = (0..self.nodes.len()).filter(|&k| self.nodes[k].column == c).collect();
            if !self.is_categorical[c] {
                let value =
                    |row: &Vec<f64>| nodes.first().map_or(0.0, |&k| self.nodes[k].standard().undo(row[k]));
                return Column::numeric(self.names[c].clone(), rows.iter().map(value).collect());
            }
            let categories = self.categories[c].clone();
            let code = |row: &Vec<f64>| {
                let mut shares: Vec<f64> =
                    nodes.iter().map(|&k| self.nodes[k].standard().undo(row[k])).collect();
                shares.push(1.0 - shares.iter().sum::<f64>());
                (!categories.is_empty()).then(|| argmax(&shares))
            };
            let codes = Codes::from_options(categories.len(), rows.iter().map(code));
            Column::categorical(self.names[c].clone(), categories, codes)
        });
        Table::new(columns.collect())
    }

    /// `Σ log deviation` over the observed numeric nodes of an encoded row: what turns a density of nodes into one of
    /// the numeric columns.
    pub fn log_scale(&self, row: &[f64]) -> f64 {
        let counts = |k: &usize| {
            let node = &self.nodes[*k];
            node.category.is_none() && node.scale > 0.0 && !row[*k].is_nan()
        };
        (0..row.len()).filter(counts).map(|k| self.nodes[k].scale.ln()).sum()
    }
}

/// Most weights of all classes, arcs that are not there counted: one Fisher vector, or the weights as matrices (2 GB).
const MOST_WEIGHTS: usize = 1 << 28;
const LESS: &str =
    "leave out columns with many categories (`--ignore`), each of which is a node, or give fewer rows";

/// Refuses networks whose weights would not fit into memory as matrices.
pub(crate) fn require_room(classes: usize, nodes: usize) -> Result<()> {
    let size = nodes as f64 * nodes as f64 * classes as f64;
    if size <= MOST_WEIGHTS as f64 {
        return Ok(());
    }
    let what = format!("holding the weights of {classes} networks over {nodes} nodes");
    Err(Error::too_large(what, size, MOST_WEIGHTS as f64, LESS))
}

/// Asks for the memory of a table as nodes, of their moments and of the networks of some classes.
pub(crate) fn reserve(table: &Table, classes: usize, control: &Control) -> Result<()> {
    reserve_nodes(table.n_rows(), places_of(table).len(), classes, control)
}

/// The same for so many rows of nodes.
pub(crate) fn reserve_nodes(n: usize, m: usize, classes: usize, control: &Control) -> Result<()> {
    let n = n as f64;
    require_room(classes, m)?;
    let cells = m as f64 * (4.0 * n + (2 * classes + 4) as f64 * m as f64);
    control.reserve(8.0 * cells, format!("learning {classes} networks of {m} nodes from {n} rows"), LESS)
}

fn places_of(table: &Table) -> Vec<(usize, Option<usize>)> {
    node_places(table.columns().iter().map(|c| c.as_categorical().map(|c| c.categories().len())))
}

/// Column and category of every node, from the number of categories of each column (`None` for numbers).
pub(crate) fn node_places(columns: impl Iterator<Item = Option<usize>>) -> Vec<(usize, Option<usize>)> {
    let nodes = |(column, categories): (usize, Option<usize>)| match categories {
        None => vec![(column, None)],
        Some(n) => (0..n.saturating_sub(1)).map(|k| (column, Some(k))).collect(),
    };
    columns.enumerate().flat_map(nodes).collect()
}

/// The values of each node before standardising.
fn raw_columns(table: &Table, nodes: &[Node]) -> Result<Vec<Column>> {
    nodes
        .iter()
        .map(|node| {
            let column = table.column(node.column);
            match (column.data(), node.category) {
                (ColumnData::Numeric(_), None) => Ok(column.clone()),
                (ColumnData::Categorical(c), Some(category)) => {
                    let indicator = |code: usize| f64::from(u8::from(code == category));
                    let values = c.codes().iter().map(|code| code.map_or(f64::NAN, indicator)).collect();
                    Ok(Column::numeric(column.name(), values))
                }
                _ => Err(Error::column(
                    column.name(),
                    "is numeric in one table and categorical in the other",
                    "read both files with the same choice of numeric and categorical columns",
                )),
            }
        })
        .collect()
}
