//! What a generative model can do beside classifying: say how probable rows are, draw rows, and show its
//! network. A model that is not generative refuses with an error that says what to use instead.

use super::exchange::{NamedNetwork, Variable};
use super::query::{Findings, Known, Query};
use super::{Fitted, Model};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_base::similar::did_you_mean;
use hingenet_data::classifier::Classifier;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::rows::categories_of;
use hingenet_data::table::{Codes, Column, FeatureSpec, Table, UnseenPolicy, parse_number};
use hingenet_discrete::DiscreteClassifier;
use hingenet_discrete::inference::Beliefs;
use hingenet_gaussian::GaussianClassifier;

/// Log-likelihood of the observed cells of one row, natural logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLikelihood {
    /// `log P(features)`, the class summed out.
    pub features: f64,
    /// `log P(class, features)`, if the row has a class the model knows.
    pub joint: Option<f64>,
}

impl Model {
    /// Whether the model gives `log P(class, features)`, so that it can score rows.
    pub fn is_generative(&self) -> bool {
        match &self.fitted {
            Fitted::Discrete(_) | Fitted::Averaged(_) => true,
            Fitted::Gaussian(model) => model.machine.is_none(),
            _ => false,
        }
    }

    /// Temperature by which the scores were divided to calibrate the probabilities, where there is one.
    pub fn temperature(&self) -> Option<f64> {
        match &self.fitted {
            Fitted::Discrete(model) => Some(model.temperature()),
            Fitted::Averaged(model) => Some(model.temperature()),
            _ => None,
        }
    }

    /// Log-likelihood of each row under the uncalibrated model: missing features are summed out, the target
    /// column is used if it is there. Numeric features count by their interval.
    pub fn log_likelihood(&self, table: &Table, unseen: UnseenPolicy) -> Result<Vec<RowLikelihood>> {
        self.likelihoods(self.row_likelihoods(table, unseen))
    }

    fn row_likelihoods(&self, table: &Table, unseen: UnseenPolicy) -> Result<Vec<RowLikelihood>> {
        let (rows, _) = self.schema.align(table, unseen)?;
        let joint = match &self.fitted {
            Fitted::Averaged(model) => model.log_joint(&rows)?,
            Fitted::Gaussian(model) => return self.gaussian_likelihood(model, table, &rows),
            _ => self.network_model("give a likelihood of features")?.log_joint(&rows)?,
        };
        let class = self.known_classes(table);
        let row = |(m, scores): (usize, &[f64])| RowLikelihood {
            features: log_sum_exp(scores),
            joint: class.get(m).copied().flatten().map(|c| scores[c]),
        };
        Ok(joint.chunks(self.classes.len()).enumerate().map(row).collect())
    }

    /// `n` rows drawn from the model, the features first and the class last, given `column = value` pairs. A discrete
    /// network knows of a number its interval only: it is drawn uniformly from the part of it that training has seen.
    pub fn sample(&self, n: usize, known: &[(String, Known)], seed: u64, control: &Control) -> Result<Table> {
        // a cell as it is drawn, as it is kept, and as text
        let bytes = n as f64 * (self.schema.features.len() + 1) as f64 * 32.0;
        control.reserve(
            bytes,
            format!("drawing {n} rows"),
            "draw fewer rows at a time, with another `--seed`",
        )?;
        self.drawn(self.sampled(n, known, seed))
    }

    fn sampled(&self, n: usize, known: &[(String, Known)], seed: u64) -> Result<Table> {
        let findings = Findings::new(self, &Query { known: known.to_vec(), ..Query::default() })?;
        let (coders, members) = match &self.fitted {
            Fitted::Gaussian(model) => return self.drawn_numbers(model, n, &findings, seed),
            Fitted::Averaged(model) => (model.coders(), model.network().networks()?),
            _ => {
                let model = self.network_model("draw rows")?;
                (model.coders(), vec![model.network().clone()])
            }
        };
        let rows = Beliefs::new(&members, &findings.given.likelihood)?.draw(n, seed)?;
        let codes = |i: usize, r: usize| Codes::from_options(r, rows.iter().map(|row| Some(row[i])));
        let class = Column::categorical(&*self.target, self.classes.clone(), codes(0, self.classes.len()));
        let feature = |(j, (spec, coder)): (usize, (&FeatureSpec, &FeatureCoder))| {
            let codes = codes(j + 1, coder.n_states());
            match coder {
                FeatureCoder::Categories { .. } => {
                    let states = (0..coder.n_states()).map(|s| coder.state_name(s)).collect();
                    Column::categorical(&*spec.name, states, codes)
                }
                FeatureCoder::Cuts { cuts } => {
                    let fixed = known.iter().find_map(|(column, known)| match known {
                        Known::Value(value) if *column == spec.name => parse_number(value),
                        _ => None,
                    });
                    let range = self.facts.ranges.get(&spec.name).copied();
                    let stream = seed ^ (j as u64 + 1).wrapping_mul(WITHIN_INTERVALS);
                    Column::numeric(&*spec.name, numbers(&codes, cuts, range, fixed, stream))
                }
            }
        };
        let features = self.schema.features.iter().zip(coders).enumerate().map(feature);
        Table::new(features.chain([class]).collect())
    }

    /// Rows of Gaussian networks.
    fn drawn_numbers(
        &self,
        model: &GaussianClassifier,
        n: usize,
        findings: &Findings<'_>,
        seed: u64,
    ) -> Result<Table> {
        let given = &findings.given;
        let (features, class) = if given.known().next().is_none() {
            model.sample(n, seed)?
        } else {
            model.beliefs(&self.evidence(given)?)?.draw(n, seed)?
        };
        let class = Column::categorical(self.target.clone(), self.classes.clone(), class);
        Table::new(features.columns().iter().cloned().chain([class]).collect())
    }

    /// The network with its names, for the exchange formats. Uncalibrated.
    pub fn network(&self) -> Result<NamedNetwork> {
        let model = self.network_model("be written as a network")?;
        Ok(NamedNetwork {
            name: "hingenet".into(),
            variables: self.variables(model.coders()),
            network: model.network().clone(),
        })
    }

    /// Densities in the units of the columns; `P(c, x) = p(x) P(c | x)` where the networks decide.
    fn gaussian_likelihood(
        &self,
        model: &GaussianClassifier,
        table: &Table,
        rows: &Table,
    ) -> Result<Vec<RowLikelihood>> {
        let density = model.log_density(rows)?;
        let posterior = model.log_proba(rows)?;
        let class = if model.machine.is_none() { self.known_classes(table) } else { Vec::new() };
        let joint = |m: usize| {
            let c = class.get(m).copied().flatten()?;
            Some(density[m] + posterior[m * self.classes.len() + c])
        };
        Ok((0..rows.n_rows()).map(|m| RowLikelihood { features: density[m], joint: joint(m) }).collect())
    }

    pub(crate) fn known_classes(&self, table: &Table) -> Vec<Option<usize>> {
        let Some(at) = table.position(&self.target) else { return Vec::new() };
        let (names, codes) = categories_of(table.column(at));
        let code = |name: &String| self.classes.iter().position(|c| c == name);
        let codes_of_names: Vec<Option<usize>> = names.iter().map(code).collect();
        codes.iter().map(|c| c.and_then(|c| codes_of_names[c])).collect()
    }

    fn network_model(&self, what: &str) -> Result<&DiscreteClassifier> {
        match &self.fitted {
            Fitted::Discrete(model) => Ok(model),
            _ => Err(self.unsupported(
                format!("this model cannot {what}"),
                "fit a generative model such as nb:ml or tan:ml",
            )),
        }
    }

    /// The class first, then the features, with their states.
    pub(super) fn variables(&self, coders: &[FeatureCoder]) -> Vec<Variable> {
        let class = Variable { name: self.target.clone(), states: self.classes.clone() };
        let feature = |(spec, coder): (&FeatureSpec, &FeatureCoder)| Variable {
            name: spec.name.clone(),
            states: (0..coder.n_states()).map(|j| coder.state_name(j)).collect(),
        };
        std::iter::once(class).chain(self.schema.features.iter().zip(coders).map(feature)).collect()
    }

    /// State of a value of variable `i`; a number is put into its interval.
    pub(super) fn state_of(&self, names: &[Variable], i: usize, value: &str) -> Result<usize> {
        let Variable { name, states } = &names[i];
        let by_number = || {
            let number = Column::numeric(name, vec![value.parse::<f64>().ok().filter(|v| v.is_finite())?]);
            self.coders()?.get(i.checked_sub(1)?)?.code_column(&number).ok()?.get(0)
        };
        let state = states.iter().position(|s| s == value).or_else(by_number);
        state.ok_or_else(|| {
            let near = did_you_mean(value, states.iter().map(String::as_str));
            let hint = format!("its values are: {}", states.join(", "));
            Error::column(name, format!("`{value}` is none of its values{near}"), hint)
        })
    }
}

/// Position of a column by its name.
pub(super) fn variable_of(names: &[Variable], column: &str) -> Result<usize> {
    names.iter().position(|v| v.name == column).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|v| v.name.as_str()).collect();
        Error::column(
            column,
            format!("the model has no such column{}", did_you_mean(column, known.iter().copied())),
            format!("its columns are: {}", known.join(", ")),
        )
    })
}

/// Numbers its own way the random streams that place numbers in their intervals (2^64 over the golden ratio).
const WITHIN_INTERVALS: u64 = 0x9e37_79b9_7f4a_7c15;

/// The ends of the interval of state `j`: `cuts` part the intervals, the outer ones end where training did, or at their
/// cut where that is not known.
pub(super) fn interval(cuts: &[f64], range: Option<[f64; 2]>, j: usize) -> (f64, f64) {
    let (below, above) = (j.checked_sub(1).and_then(|k| cuts.get(k)).copied(), cuts.get(j).copied());
    let low = below.or(range.map(|r| r[0])).or(above).unwrap_or(0.0);
    let high = above.or(range.map(|r| r[1])).or(below.map(f64::next_up)).unwrap_or(0.0);
    (low.min(high), high)
}

/// A number from the interval of each state, uniformly. `fixed` is a number that was asked for.
fn numbers(codes: &Codes, cuts: &[f64], range: Option<[f64; 2]>, fixed: Option<f64>, seed: u64) -> Vec<f64> {
    let draw = |(m, code): (usize, Option<usize>)| {
        let (low, high) = interval(cuts, range, code.unwrap_or_default());
        // `high` belongs to the interval, `low` to the one below
        let x = high - Random::stream(seed, m as u64).uniform() * (high - low);
        fixed.unwrap_or(if x > low { x } else { high })
    };
    codes.iter().enumerate().map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_numbers_lie_in_their_intervals() {
        let cuts = [2.5, 2.5f64.next_up(), 4.0];
        let coder = FeatureCoder::Cuts { cuts: cuts.to_vec() };
        let codes = Codes::from_options(4, (0..4000).map(|m| Some(m % 4)));
        for range in [Some([-1.0, 9.0]), None] {
            let x = numbers(&codes, &cuts, range, None, 7);
            assert!(x.iter().all(|x| x.is_finite()));
            assert_eq!(coder.code_column(&Column::numeric("x", x.clone())).unwrap(), codes, "{range:?}");
            if range.is_some() {
                let upper: Vec<f64> = x.iter().skip(3).step_by(4).copied().collect();
                let mean = upper.iter().sum::<f64>() / upper.len() as f64;
                assert!((mean - 6.5).abs() < 0.2 && upper.iter().all(|x| *x <= 9.0), "{mean}");
            }
        }
        assert_eq!(numbers(&codes, &cuts, None, Some(3.0), 7), vec![3.0; 4000]);
    }
}
