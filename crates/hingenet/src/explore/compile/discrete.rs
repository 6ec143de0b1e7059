//! Discrete networks: tables, and the cliques of a junction tree over the features (the class is instantiated) with
//! their schedule. `engine/discrete.js` builds the potentials and passes the messages.

use super::{counted, floats, wholes};
use hingenet_discrete::Network;
use hingenet_discrete::inference::Cliques;
use serde_json::{Value, json};

/// Most entries of the cliques of all members and classes: a click must be answered at once.
const MOST_ENTRIES: f64 = (1 << 21) as f64;

/// `None` if messages would be too large.
pub(super) fn program(members: &[Network], temperature: f64) -> Option<Value> {
    let card = members.first()?.structure().card();
    let cliques: Vec<Cliques> = members.iter().map(Cliques::of).collect();
    let entries: f64 = cliques.iter().map(|c| c.entries(card) * card[0] as f64).sum();
    if entries > MOST_ENTRIES {
        return None;
    }
    let member = |(network, cliques): (&Network, &Cliques)| {
        let lists = network.structure().dag().parent_lists();
        json!({
            "tables": floats(network.w()),
            "parents": wholes(lists.iter().flat_map(|list| counted(list))),
            "cliques": wholes(schedule(cliques)),
            "prior": cliques.prior,
        })
    };
    let members: Vec<Value> = members.iter().zip(&cliques).map(member).collect();
    Some(json!({ "kind": "discrete", "cards": card, "temperature": temperature, "members": members }))
}

/// For each clique: the one above it (its own number where there is none), its features, its tables.
fn schedule(cliques: &Cliques) -> Vec<usize> {
    let clique = |k: usize| {
        let above = cliques.above[k].unwrap_or(k);
        [above].into_iter().chain(counted(&cliques.scopes[k])).chain(counted(&cliques.tables[k]))
    };
    (0..cliques.scopes.len()).flat_map(clique).collect()
}
