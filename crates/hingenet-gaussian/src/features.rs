//! From a table to nodes: a numeric column is one node, standardised on the pooled training rows (mean 0, deviation 1
//! with divisor n − 1); a categorical column with K categories is K − 1 indicator nodes (all categories but the last),
//! standardised alike. A constant column becomes zeros. A missing cell makes all nodes of its column missing.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::argmax;
use hingenet_data::encode::{Divisor, Standard};
use hingenet_data::table::{Codes, Column, ColumnData, Table};

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
    /// Learns means and deviations from the weighted rows.
    pub fn learn(table: &Table, weights: Option<&[f64]>) -> Result<Self> {
        let (mut nodes, mut categories) = (Vec::new(), Vec::new());
        for (column, data) in table.columns().iter().enumerate() {
            let node = |category: Option<usize>| Node { column, category, mean: 0.0, scale: 0.0 };
            let names = data.as_categorical().map_or(&[][..], |c| c.categories());
            match data.as_categorical() {
                None => nodes.push(node(None)),
                Some(_) => nodes.extend((0..names.len().saturating_sub(1)).map(|k| node(Some(k)))),
            }
            categories.push(names.to_vec());
        }
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
            categories,
            is_categorical: table.columns().iter().map(|c| c.as_categorical().is_some()).collect(),
        })
    }

    /// Checks a map read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let n = self.names.len();
        require_len("category lists", n, self.categories.len())?;
        require_len("column types", n, self.is_categorical.len())?;
        let fits = |node: &Node| match node.category {
            _ if node.column >= n || !node.standard().is_possible() => false,
            None => !self.is_categorical[node.column],
            Some(k) => k < self.categories[node.column].len(),
        };
        if self.nodes.iter().all(fits) {
            Ok(())
        } else {
            Err(Error::model_file("the feature map holds impossible values"))
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
