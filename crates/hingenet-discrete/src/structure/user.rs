//! Graphs given by the user as pairs of names.

use hingenet_base::error::{Error, Result};
use hingenet_base::graph::{Dag, with_names};

/// The graph with the arcs `(from, to)`, by name; `names[0]` is the class. Errors name the culprit: an
/// unknown name, an arc given twice, a self-loop, a cycle.
pub fn dag_from_names(names: &[String], arcs: &[(String, String)]) -> Result<Dag> {
    let position = |name: &String| {
        names.iter().position(|n| n == name).ok_or_else(|| {
            let known: Vec<&str> = names.iter().map(String::as_str).take(20).collect();
            Error::column(name, "an edge names it, but there is no such column", known.join(", "))
        })
    };
    let mut parents = vec![Vec::new(); names.len()];
    for (from, to) in arcs {
        let (p, list) = (position(from)?, &mut parents[position(to)?]);
        if list.contains(&p) {
            return Err(Error::graph(to, format!("edge from `{from}` is listed twice")));
        }
        list.push(p);
    }
    Dag::new(parents).map_err(|e| with_names(e, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    #[test]
    fn errors_name_the_culprit() {
        let names: Vec<String> = ["y", "a", "b"].map(String::from).to_vec();
        let dag = dag_from_names(&names, &arcs(&[("y", "a"), ("a", "b"), ("y", "b")])).unwrap();
        assert_eq!(dag.parents(2), [0, 1]);
        let error = |list: &[(&str, &str)]| dag_from_names(&names, &arcs(list)).unwrap_err().to_string();
        assert!(error(&[("y", "c")]).contains("`c`"));
        assert!(error(&[("a", "b"), ("b", "a")]).contains("b -> a -> b"));
        assert!(error(&[("a", "a")]).contains("`a`"));
        assert!(error(&[("y", "a"), ("y", "a")]).contains("twice"));
    }
}
