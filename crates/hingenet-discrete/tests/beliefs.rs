//! Queries of networks against the sum over all assignments: joint tables with observations, exclusions and
//! likelihoods, the most probable assignment, and draws; one network and averages of several.

use hingenet_base::graph::Dag;
use hingenet_base::numeric::random::Random;
use hingenet_discrete::inference::{Beliefs, Finding};
use hingenet_discrete::{Network, Structure};

/// A network over the class and four features, some with two parents.
fn network(card: &[usize], parents: Vec<Vec<usize>>, random: &mut Random) -> Network {
    let structure = Structure::new(card.to_vec(), Dag::new(parents).unwrap()).unwrap();
    let w = (0..structure.n_nodes())
        .flat_map(|i| (0..structure.n_rows(i)).map(move |_| i).collect::<Vec<_>>())
        .flat_map(|i| {
            let row: Vec<f64> = (0..card[i]).map(|_| 0.05 + random.uniform()).collect();
            let total: f64 = row.iter().sum();
            row.into_iter().map(move |x| (x / total).ln())
        })
        .collect();
    Network::new(structure, w).unwrap()
}

const CARD: [usize; 5] = [3, 2, 4, 3, 2];

fn members(n: usize, random: &mut Random) -> Vec<Network> {
    let graphs = [
        vec![vec![], vec![0], vec![0, 1], vec![0, 2], vec![1, 3]],
        vec![vec![], vec![0, 4], vec![0], vec![1, 2], vec![0]],
        vec![vec![2], vec![0, 2], vec![], vec![0], vec![2, 3]],
    ];
    graphs.into_iter().take(n).map(|parents| network(&CARD, parents, random)).collect()
}

fn findings(random: &mut Random) -> Vec<Option<Finding>> {
    let one = |r: usize, random: &mut Random| match random.below(4) {
        0 => None,
        1 => {
            let seen = random.below(r);
            Some((0..r).map(|j| f64::from(u8::from(j == seen))).collect())
        }
        2 => {
            let never = random.below(r);
            Some((0..r).map(|j| f64::from(u8::from(j != never))).collect())
        }
        _ => Some((0..r).map(|_| 5.0 * random.uniform()).collect()),
    };
    CARD.iter().map(|&r| one(r, random)).collect()
}

/// `P(assignment, findings)` of every assignment.
fn everything(networks: &[Network], findings: &[Option<Finding>]) -> Vec<(Vec<usize>, f64)> {
    let total: usize = CARD.iter().product();
    let assignment = |mut k: usize| -> Vec<usize> {
        CARD.iter()
            .map(|r| {
                let j = k % r;
                k /= r;
                j
            })
            .collect()
    };
    let probability = |x: &[usize]| {
        let mean = networks.iter().map(|n| n.log_joint(|i| x[i]).exp()).sum::<f64>() / networks.len() as f64;
        let weight = findings.iter().zip(x).map(|(f, &j)| f.as_ref().map_or(1.0, |f| f[j])).product::<f64>();
        mean * weight
    };
    (0..total).map(assignment).map(|x| (x.clone(), probability(&x))).collect()
}

#[test]
fn tables_and_most_probable_assignments_are_those_of_the_sum_over_everything() {
    let mut random = Random::new(7);
    for round in 0..200 {
        let networks = members(1 + round % 3, &mut random);
        let findings = findings(&mut random);
        let beliefs = Beliefs::new(&networks, &findings).unwrap();
        let all = everything(&networks, &findings);
        let columns = beliefs.columns().unwrap();
        let classes = beliefs.log_classes().unwrap();
        for (c, (log, same)) in columns.log_classes.iter().zip(&classes).enumerate() {
            let of_class: f64 = all.iter().filter(|(x, _)| x[0] == c).map(|(_, p)| p).sum();
            assert!((log.exp() - of_class).abs() < 1e-12 * (1.0 + of_class), "{} {of_class}", log.exp());
            assert!((same.exp() - of_class).abs() < 1e-12 * (1.0 + of_class), "{} {of_class}", same.exp());
            for (v, r) in CARD.iter().enumerate() {
                for j in 0..*r {
                    let p: f64 = all.iter().filter(|(x, _)| x[0] == c && x[v] == j).map(|(_, p)| p).sum();
                    let own = columns.given_class[v][c * r + j];
                    assert!(
                        (own * of_class - p).abs() < 1e-12,
                        "class {c}, variable {v}: {own} {p} {of_class}"
                    );
                    assert!(own == 0.0 || of_class > 0.0);
                }
            }
        }
        for class in 0..CARD[0] {
            let in_class = all.iter().filter(|(x, _)| x[0] == class);
            let largest = in_class.map(|(_, p)| *p).fold(0.0, f64::max);
            match beliefs.most_probable(class).unwrap() {
                None => assert_eq!(largest, 0.0),
                Some((state, log)) => {
                    let own = all.iter().find(|(x, _)| *x == state).unwrap().1;
                    assert!((log.exp() - own).abs() < 1e-12 * (1.0 + own));
                    // of several networks the best of the members' choices is not always the best of all
                    let exact = networks.len() == 1;
                    assert!(own <= largest + 1e-15 && (!exact || (own - largest).abs() < 1e-12 * largest));
                }
            }
        }
    }
}

#[test]
fn draws_follow_the_findings() {
    let mut random = Random::new(11);
    let networks = members(3, &mut random);
    let findings =
        vec![None, None, Some(vec![0.0, 1.0, 1.0, 0.5]), Some(vec![0.2, 1.0, 3.0]), Some(vec![0.0, 1.0])];
    let all = everything(&networks, &findings);
    let total: f64 = all.iter().map(|(_, p)| p).sum();
    let n = 40_000;
    let drawn = Beliefs::new(&networks, &findings).unwrap().draw(n, 5).unwrap();
    for (v, r) in CARD.iter().enumerate() {
        for j in 0..*r {
            let p = all.iter().filter(|(x, _)| x[v] == j).map(|(_, p)| p).sum::<f64>() / total;
            let share = drawn.iter().filter(|x| x[v] == j).count() as f64 / n as f64;
            let deviation = (p * (1.0 - p) / n as f64).sqrt();
            assert!((share - p).abs() <= 5.0 * deviation, "variable {v}, state {j}: {share} {p}");
        }
    }
    let again = Beliefs::new(&networks, &findings).unwrap().draw(10, 5).unwrap();
    assert_eq!(again, drawn[..10]);
}

#[test]
fn findings_that_are_no_likelihoods_are_refused() {
    let networks = members(1, &mut Random::new(3));
    for bad in [vec![0.0, 0.0], vec![-1.0, 1.0], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0], vec![1.0]] {
        let findings = vec![None, Some(bad.clone()), None, None, None];
        assert!(Beliefs::new(&networks, &findings).is_err(), "{bad:?}");
    }
    assert!(Beliefs::new(&networks, &[None]).is_err());
}
