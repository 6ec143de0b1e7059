//! Exchange formats of discrete networks: BIF and XMLBIF in and out, DOT out. A [`NamedNetwork`] stands
//! between them and the discrete family. Probabilities are written with as many digits as a double
//! needs, so reading back gives the same numbers.

mod bif;
mod dot;
mod xmlbif;

pub(crate) use dot::quote;

use hingenet_base::error::{Error, Result};
use hingenet_base::graph::{Dag, with_names};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_discrete::{Network, Structure};
use std::collections::BTreeSet;

/// A network with named variables and states.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedNetwork {
    /// Name of the network.
    pub name: String,
    /// Variables in node order; node 0 is the class.
    pub variables: Vec<Variable>,
    /// Graph and parameters over the same nodes.
    pub network: Network,
}

/// A variable and its states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// State names; the code is the position.
    pub states: Vec<String>,
}

/// A variable's table as a file gives it: parents in the file's order, one row per parent assignment,
/// the last parent varying fastest.
struct Definition {
    variable: usize,
    parents: Vec<usize>,
    rows: Vec<Vec<f64>>,
}

impl NamedNetwork {
    /// The graph in DOT, the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let names: Vec<&str> = self.variables.iter().map(|v| v.name.as_str()).collect();
        dot::dot(self.network.structure().dag(), &names)
    }

    /// The same network with `target` as node 0, the others in their order.
    pub fn with_class_first(self, target: &str) -> Result<NamedNetwork> {
        let names: Vec<&str> = self.variables.iter().map(|v| v.name.as_str()).collect();
        let class = names.iter().position(|n| *n == target).ok_or_else(|| {
            Error::column(
                target,
                "the network has no such variable",
                format!("its variables are: {}", names.join(", ")),
            )
        })?;
        let order: Vec<usize> =
            std::iter::once(class).chain((0..names.len()).filter(|&i| i != class)).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let old = self.network.structure();
        let definitions = order.iter().map(|&i| Definition {
            variable: place[i],
            parents: old.dag().parents(i).iter().map(|&p| place[p]).collect(),
            rows: (0..old.n_rows(i))
                .map(|h| self.network.row(i, h).iter().map(|w| w.exp()).collect())
                .collect(),
        });
        let definitions = definitions.collect();
        let variables = order.iter().map(|&i| self.variables[i].clone()).collect();
        assemble(self.name, variables, definitions)
    }
}

/// Checks what a file gave and turns it into a network. No memory is taken for a table that the file does not have.
fn assemble(name: String, variables: Vec<Variable>, definitions: Vec<Definition>) -> Result<NamedNetwork> {
    check_names(&variables)?;
    let n = variables.len();
    let card: Vec<usize> = variables.iter().map(|v| v.states.len()).collect();
    let mut parents = vec![None; n];
    for d in &definitions {
        if parents[d.variable].replace(d.parents.clone()).is_some() {
            return Err(bad(&variables[d.variable].name, "has two probability tables"));
        }
    }
    let parents: Vec<Vec<usize>> = parents
        .into_iter()
        .enumerate()
        .map(|(i, p)| p.ok_or_else(|| bad(&variables[i].name, "has no probability table")))
        .collect::<Result<_>>()?;
    let names: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
    let dag = Dag::new(parents).map_err(|e| with_names(e, &names))?;
    let structure = Structure::new(card, dag)?;
    let in_table = |d: &Definition, checked: Result<(), String>| {
        checked.map_err(|p| bad(&variables[d.variable].name, &p))
    };
    definitions.iter().try_for_each(|d| in_table(d, check_size(&structure, d)))?;
    let mut w = vec![f64::NEG_INFINITY; structure.n_entries()];
    definitions.iter().try_for_each(|d| in_table(d, fill_table(&mut w, &structure, d)))?;
    Ok(NamedNetwork { name, variables, network: Network::new(structure, w)? })
}

/// Names of variables are distinct, and so are those of the states of each.
fn check_names(variables: &[Variable]) -> Result<()> {
    let mut names = BTreeSet::new();
    for v in variables {
        if !names.insert(&v.name) {
            return Err(bad(&v.name, "occurs twice"));
        }
        let mut states = BTreeSet::new();
        if let Some(state) = v.states.iter().find(|state| !states.insert(*state)) {
            return Err(bad(&v.name, &format!("has state `{state}` twice")));
        }
    }
    Ok(())
}

/// Whether a table has the rows that the states of its parents ask for, each with a number for every state.
fn check_size(structure: &Structure, d: &Definition) -> Result<(), String> {
    let (rows, states) = (structure.n_rows(d.variable), structure.card()[d.variable]);
    if d.rows.len() != rows {
        return Err(format!("has {} rows of probabilities, needs {rows}", d.rows.len()));
    }
    match d.rows.iter().find(|row| row.len() != states) {
        None => Ok(()),
        Some(row) => Err(format!("has {} probabilities in a row, needs {states}", row.len())),
    }
}

/// How far (log) a row of probabilities may be from 1: files are often written with a few digits; a row that is further off
/// is a mistake.
const ROUNDED: f64 = 0.02;

/// Writes the log parameters of one variable, rows re-ordered from the file's parent order to ours.
fn fill_table(w: &mut [f64], structure: &Structure, d: &Definition) -> Result<(), String> {
    let (i, card) = (d.variable, structure.card());
    for (at, row) in d.rows.iter().enumerate() {
        if row.iter().any(|p| !(0.0..=ROUNDED.exp()).contains(p)) {
            return Err("has a probability outside 0 to 1".into());
        }
        // The state of a parent in the file's row: those behind it vary faster.
        let state = |p: usize| {
            let behind = d.parents.iter().rev().take_while(|&&q| q != p).map(|&q| card[q]).product::<usize>();
            at / behind % card[p]
        };
        let h = structure.row_of(i, state);
        let start = structure.table(i).start + h * card[i];
        let logs: Vec<f64> = row.iter().map(|p| p.ln()).collect();
        let total = log_sum_exp(&logs);
        if total.abs() > ROUNDED {
            return Err(format!("has a row of probabilities that sums to {}", total.exp()));
        }
        let shift = if total.abs() > 1e-12 { total } else { 0.0 };
        w[start..start + card[i]].iter_mut().zip(&logs).for_each(|(w, l)| *w = l - shift);
    }
    Ok(())
}

fn bad(variable: &str, problem: &str) -> Error {
    network_file(format!("variable `{variable}` {problem}"))
}

/// The error of a network file that cannot be used.
fn network_file(problem: String) -> Error {
    Error::ModelFile { problem, hint: "correct the network file".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::log::log_normalise;
    use proptest::prelude::*;

    fn network() -> impl Strategy<Value = NamedNetwork> {
        let card = prop::collection::vec(1usize..4, 4);
        (card, prop::collection::vec(-3.0f64..0.0, 400), any::<[bool; 6]>(), "\\PC{0,6}").prop_map(
            |(card, weights, arcs, odd)| {
                let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
                let mut parents = vec![Vec::new(); 4];
                pairs.iter().zip(arcs).filter(|(_, on)| *on).for_each(|((a, b), _)| parents[*b].push(*a));
                let structure = Structure::new(card.clone(), Dag::new(parents).unwrap()).unwrap();
                let mut w = weights[..structure.n_entries()].to_vec();
                for i in 0..4 {
                    w[structure.table(i)].chunks_mut(card[i]).for_each(|row| {
                        log_normalise(row);
                    });
                }
                let variables = (0..4).map(|i| Variable {
                    name: format!("{odd} x-{i}"),
                    states: (0..card[i]).map(|j| format!("({j}, <{odd}>]")).collect(),
                });
                let variables = variables.collect();
                NamedNetwork { name: odd, variables, network: Network::new(structure, w).unwrap() }
            },
        )
    }

    fn same(a: &NamedNetwork, b: &NamedNetwork) {
        assert_eq!(a.variables, b.variables);
        assert_eq!(a.network.structure(), b.network.structure());
        for (x, y) in a.network.w().iter().zip(b.network.w()) {
            assert!((x - y).abs() < 1e-13, "{x} {y}");
        }
    }

    proptest! {
        /// Whatever the names, a network written to BIF or XMLBIF comes back as it was.
        #[test]
        fn networks_survive_both_formats(net in network()) {
            same(&net, &NamedNetwork::from_bif(&net.to_bif()).unwrap());
            same(&net, &NamedNetwork::from_xmlbif(&net.to_xmlbif()).unwrap());
        }

        /// Text that is no network is refused, never a panic.
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = NamedNetwork::from_bif(&text);
            let _ = NamedNetwork::from_xmlbif(&text);
        }

        /// Damaged BIF text is read or refused, never a panic.
        #[test]
        fn damaged_bif_is_read_or_refused(net in network(), at in 0usize..2000, with in "\\PC") {
            let mut text: Vec<char> = net.to_bif().chars().collect();
            let at = at % text.len();
            text.splice(at..at + 1, with.chars());
            let _ = NamedNetwork::from_bif(&text.into_iter().collect::<String>());
        }

        /// Moving the class to the front keeps every joint probability.
        #[test]
        fn the_class_can_be_moved_to_the_front(net in network()) {
            let target = net.variables[2].name.clone();
            let moved = net.clone().with_class_first(&target).unwrap();
            let old = [2, 0, 1, 3];
            let card: Vec<usize> = net.network.structure().card().to_vec();
            for code in 0..card.iter().product::<usize>() {
                let mut rest = code;
                let x: Vec<usize> = card.iter().map(|r| { let s = rest % r; rest /= r; s }).collect();
                let a = net.network.log_joint(|i| x[i]);
                let b = moved.network.log_joint(|i| x[old[i]]);
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }
}
