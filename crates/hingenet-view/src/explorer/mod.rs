//! The explorer: a page in which a click says what is known and everything that follows moves. Rust gives it the facts of the
//! model, the places of its cards, and an engine: flat arrays that the page evaluates itself, or the program that serves it.

mod bundle;

use crate::network::{Place, layout_cards, rows_of_cards, without_cycles};
use bundle::bundle;
use hingenet::Result;
use hingenet::explore::Explorer;
use hingenet::model::NodeFacts;
use hingenet::report::{NetworkPicture, NetworkReport, PictureArc};
use serde_json::{Value, json};

/// A file of the script with its name.
macro_rules! module {
    ($name:literal) => {
        ($name, include_str!($name))
    };
}

pub(crate) const STYLE: &str = include_str!("explorer.css");

/// The parts of the page's script, each after those it uses when it starts.
const MODULES: [(&str, &str); 16] = [
    module!("engine/arrays.js"),
    module!("engine/numbers.js"),
    module!("engine/findings.js"),
    module!("engine/discrete.js"),
    module!("engine/gaussian.js"),
    module!("engine/density.js"),
    module!("engine/local.js"),
    module!("engine/remote.js"),
    module!("app/evidence.js"),
    module!("app/distribution.js"),
    module!("app/charts.js"),
    module!("app/reasons.js"),
    module!("app/cards.js"),
    module!("app/panels.js"),
    module!("app/rows.js"),
    module!("app/main.js"),
];

/// Width of a card.
const CARD_WIDTH: f64 = 168.0;
/// Height of its head.
const CARD_HEAD: f64 = 26.0;
/// Height of a line of its states.
const CARD_LINE: f64 = 17.0;
/// Height of a density.
const CARD_DENSITY: f64 = 58.0;
/// States on a card; the rest is shown when it is chosen.
const CARD_STATES: usize = 7;
/// Cards stand in rows of at most this width.
const ROW: f64 = 1100.0;

/// Room below the last row for arcs between its cards.
const BELOW: f64 = 28.0;
/// Layers that are so much higher than wide are given up.
const LADDER: f64 = 1.2;

/// Rows that a page has to pick from.
pub const ROWS: usize = 1000;

/// The script of a page with an explorer.
pub(crate) fn script() -> String {
    bundle(&MODULES)
}

/// What the explorer of one page is given.
#[derive(Debug, Clone)]
pub struct Exploration {
    given: Value,
}

impl Exploration {
    /// For a page that needs nothing else; `None` for a model without a form that a page can evaluate. `rows` are those of
    /// [`Explorer::rows`].
    pub fn offline(explorer: &Explorer<'_>, rows: Option<Value>) -> Result<Option<Self>> {
        let Some(program) = explorer.program()? else { return Ok(None) };
        Exploration::new(explorer, rows, program, Value::Null).map(Some)
    }

    /// For a page whose questions the program answers, which knows its own page by the token.
    pub fn served(explorer: &Explorer<'_>, rows: Option<Value>, token: &str) -> Result<Self> {
        Exploration::new(explorer, rows, Value::Null, json!({ "token": token }))
    }

    fn new(explorer: &Explorer<'_>, rows: Option<Value>, program: Value, server: Value) -> Result<Self> {
        let facts = explorer.facts()?;
        let pictures = explorer.pictures()?;
        let (places, size) = places(&facts, &pictures);
        let pictures: Vec<Value> = pictures.iter().map(picture).collect();
        Ok(Exploration {
            given: json!({
                "facts": facts, "pictures": pictures, "places": places, "size": size, "coordinates": Value::Null, "rows": rows,
                "differences": Value::Null, "program": program, "server": server,
            }),
        })
    }

    /// Where the features are, if all have coordinates: shown from above and, with a third one, from the front and the side.
    pub fn at(mut self, features: &[NodeFacts]) -> Self {
        let point = |f: &NodeFacts| f.place.map(|(x, y)| json!([x, y, f.height]));
        let points: Option<Vec<Value>> = features.iter().map(point).collect();
        self.given["coordinates"] = points.filter(|p| !p.is_empty()).into();
        self
    }

    /// Where the networks of the classes were found to differ, if they were compared.
    pub fn comparing(mut self, explorer: &Explorer<'_>, networks: Option<&NetworkReport>) -> Self {
        let Some((networks, expected)) = networks.and_then(|n| Some((n, n.expected_false?))) else {
            return self;
        };
        if let Value::Array(pictures) = &mut self.given["pictures"] {
            pictures.extend(explorer.differences(networks).iter().map(picture));
        }
        self.given["differences"] = json!({ "found": networks.differences, "expected": expected });
        self
    }

    /// JSON that may stand in a page: it can close no element.
    pub(crate) fn json(&self) -> String {
        self.given.to_string().replace('<', "\\u003c")
    }

    pub(crate) fn is_served(&self) -> bool {
        !self.given["server"].is_null()
    }
}

fn picture(picture: &NetworkPicture) -> Value {
    let arcs: Vec<Value> = picture.arcs.iter().map(|a| json!([a.from, a.to, a.strength])).collect();
    json!({ "title": picture.title, "unit": picture.strength, "directed": picture.is_directed, "arcs": arcs })
}

/// Centre, middle, width and height of the card of every column, and the size of all: layers of the arcs of all classes.
fn places(facts: &Value, pictures: &[NetworkPicture]) -> (Vec<[f64; 4]>, [f64; 2]) {
    let states = |column: &Value| column["states"].as_array().map_or(0, Vec::len);
    let height = |column: &Value| match states(column) {
        0 => CARD_HEAD + CARD_DENSITY,
        n if n > CARD_STATES => CARD_HEAD + CARD_LINE * (CARD_STATES + 1) as f64 + 4.0,
        n => CARD_HEAD + CARD_LINE * n as f64 + 4.0,
    };
    let heights: Vec<f64> = facts["columns"].as_array().into_iter().flatten().map(height).collect();
    let Some(first) = pictures.first() else { return (Vec::new(), [0.0; 2]) };
    let mut all = first.clone();
    all.arcs = acyclic(pictures);
    let mut layout = layout_cards(&all, CARD_WIDTH, &heights, ROW);
    if layout.height > LADDER * layout.width {
        // a ladder of layers hides its arcs and leaves the page empty: rows in the order of the layers
        let mut order: Vec<usize> = (0..heights.len()).collect();
        order.sort_by(|&a, &b| layout.places[a].y.total_cmp(&layout.places[b].y));
        layout = rows_of_cards(&order, CARD_WIDTH, &heights, ROW);
    }
    let place = |(p, h): (&Place, &f64)| [p.x, p.y, p.width, *h];
    (layout.places.iter().zip(&heights).map(place).collect(), [layout.width, layout.height + BELOW])
}

/// The arcs of all pictures that the layers follow.
fn acyclic(pictures: &[NetworkPicture]) -> Vec<PictureArc> {
    let arcs = pictures.iter().flat_map(|p| &p.arcs).map(|a| (a.from, a.to, a.strength));
    let kept = without_cycles(arcs.collect(), pictures.first().map_or(0, |p| p.nodes.len()));
    kept.into_iter().map(|(from, to)| PictureArc { from, to, strength: 1.0 }).collect()
}
