//! What discriminative learning changed in Gaussian networks: kept in the model and its file, told by the report.

use hingenet::evaluate::generate;
use hingenet::model::{Dataset, FitOptions, Model, ModelSpec, fit};
use hingenet::report::NetworkReport;
use hingenet_base::control::Control;

fn fitted(name: &str) -> Model {
    let data = Dataset::new(generate("gbn", Some(120), 1).unwrap(), "class", None).unwrap();
    let spec: ModelSpec = name.parse().unwrap();
    fit(&spec, &data, FitOptions::default(), &Control::default()).unwrap()
}

/// The start of KL and MM is the generative fit with the same penalty, and only as many parameters move as may.
#[test]
fn the_start_is_the_generative_network_and_few_parameters_move() {
    let generative = fitted("sgbn:or,lambda1=10");
    let networks = &generative.class_networks().unwrap().networks;
    assert_eq!(generative.class_networks().unwrap().start, None);
    assert!(NetworkReport::of_model(&generative).unwrap().unwrap().moved.is_empty());
    for name in ["sgbn:mm,lambda1=10,k=12,nu=0.3", "sgbn:kl,lambda1=10,k=12,c=1"] {
        let model = fitted(name);
        let gaussian = model.class_networks().unwrap();
        let start = gaussian.start.as_ref().unwrap();
        for (a, b) in start.iter().zip(networks) {
            let (a, b) = (a.theta(), b.theta());
            let close = |e: usize| (a[(e / 40, e % 40)] - b[(e / 40, e % 40)]).abs() < 1e-6;
            assert!((0..1600).all(close), "{name}");
        }
        let moved = NetworkReport::of_model(&model).unwrap().unwrap().moved;
        assert!(!moved.is_empty() && moved.len() <= 2 * 12, "{name}: {} moved", moved.len());
        assert!(moved.is_sorted_by(|a, b| a.change().abs() >= b.change().abs()), "{name}");
        for w in &moved {
            let c = model.classes.iter().position(|class| *class == w.class).unwrap();
            let (before, after) = match w.tail {
                Some(i) => (start[c].theta()[(i, w.head)], gaussian.networks[c].theta()[(i, w.head)]),
                None => (start[c].bias()[w.head], gaussian.networks[c].bias()[w.head]),
            };
            assert_eq!((w.before, w.after), (before, after));
            assert_ne!(before, after);
        }
    }
}

/// The bias node of Fig. 5: a node more, below the places of the others where there are any.
#[test]
fn biases_that_moved_are_arcs_of_a_node_of_their_own() {
    let mut report = NetworkReport::of_model(&fitted("sgbn:mm,lambda1=10,k=60,nu=0.3")).unwrap().unwrap();
    let constants = report.moved.iter().filter(|w| w.tail.is_none()).count();
    assert!(constants > 0);
    let drawn: Vec<_> =
        report.networks.iter().filter_map(|n| n.class.as_deref()).map(|c| report.moved_arcs(c)).collect();
    let arcs: Vec<_> = drawn.iter().flat_map(|d| &d.arcs).collect();
    assert_eq!(arcs.len(), report.moved.len());
    let from_it: Vec<_> = arcs.iter().filter(|a| a.arc.tail == report.nodes.len()).collect();
    assert_eq!(from_it.len(), constants);
    let extended = report.with_constant();
    let node = extended.nodes.last().unwrap();
    assert!(from_it.iter().all(|a| a.from == node.name) && extended.nodes.len() == report.nodes.len() + 1);
    for (i, node) in report.nodes.iter_mut().enumerate() {
        node.place = Some((i as f64, 2.0 * i as f64));
    }
    assert!(report.with_constant().nodes.last().unwrap().place.is_some_and(|(x, y)| x == 19.5 && y < 0.0));
    report.moved.retain(|w| w.tail.is_some());
    assert_eq!(report.with_constant(), report);
}

#[test]
fn networks_come_back_from_json_and_arcs_to_nowhere_are_refused() {
    let report = NetworkReport::of_model(&fitted("sgbn:mm,lambda1=10,k=12,nu=0.3")).unwrap().unwrap();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(NetworkReport::from_json(&text).unwrap(), report);
    let mut without = report.clone();
    without.nodes.truncate(5);
    let error = NetworkReport::from_json(&serde_json::to_string(&without).unwrap()).unwrap_err().to_string();
    assert!(error.contains("but there are 5"), "{error}");
    let mut grouped = report;
    grouped.nodes[0].group = Some(1);
    let error = NetworkReport::from_json(&serde_json::to_string(&grouped).unwrap()).unwrap_err().to_string();
    assert!(error.contains("of group 1, but there are 0"), "{error}");
}

#[test]
fn a_model_file_keeps_the_start_and_does_without() {
    let model = fitted("sgbn:mm,lambda1=10,k=12,nu=0.3");
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(back.class_networks().unwrap().start.is_some());
    assert_eq!(back.class_networks().unwrap(), model.class_networks().unwrap());
    let mut without = model.clone();
    if let hingenet::model::Fitted::Gaussian(gaussian) = &mut without.fitted {
        gaussian.start = None;
    }
    let bytes = without.to_bytes().unwrap();
    assert!(bytes.len() < model.to_bytes().unwrap().len());
    let back = Model::from_bytes(&bytes).unwrap();
    assert_eq!(back.class_networks().unwrap().start, None);
    assert!(NetworkReport::of_model(&back).unwrap().unwrap().moved.is_empty());
}
