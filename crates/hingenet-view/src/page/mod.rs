//! Pages: one self-contained HTML file each. A page is a head (verdict or facts) and a list of sections;
//! the template turns them into markup and escapes every text.

mod data;
mod digest;
mod evaluation;
mod figures;
mod importance;
mod mistakes;
mod model;
mod network;
mod terms;
mod threshold;

pub use evaluation::evaluation_page;
pub use model::model_page;
pub use network::network_page;

use crate::chart::Figure;
use crate::explorer;
use crate::table::{Cell, DataTable};
use digest::content_hash;
use hingenet::report::Origin;
use minijinja::{Environment, context};
use serde::Serialize;
use std::borrow::Cow;
use threshold::Panel;

const TEMPLATE: &str = include_str!("templates/page.html");
const STYLE: &str = concat!(
    include_str!("../chart/colours.css"),
    include_str!("templates/page.css"),
    include_str!("../chart/chart.css")
);
const SCRIPT: &str = concat!(
    include_str!("templates/page.js"),
    include_str!("templates/network.js"),
    include_str!("templates/threshold.js"),
    include_str!("templates/save.js")
);

/// A page before it is markup.
#[derive(Debug, Clone, Default, Serialize)]
struct Page {
    title: String,
    /// A line above the title.
    kind: String,
    /// What the page is about, as short facts.
    facts: Vec<String>,
    /// What looks wrong, told before anything else.
    warnings: Vec<String>,
    /// The answer in a sentence or two.
    verdict: String,
    /// What the page is about, a sentence each.
    about: Vec<String>,
    cards: Vec<Card>,
    /// What the explorer is given, as JSON that may stand in a page.
    explorer: Option<String>,
    /// Whether the page asks the program that serves it.
    is_served: bool,
    sections: Vec<Section>,
}

/// A headline figure.
#[derive(Debug, Clone, Serialize)]
struct Card {
    name: String,
    value: String,
    /// The full value.
    exact: String,
    interval: String,
    about: String,
    baseline: String,
}

/// A part of the page.
#[derive(Debug, Clone, Default, Serialize)]
struct Section {
    id: String,
    title: String,
    text: Vec<String>,
    /// A line of shell, shown as such.
    command: String,
    /// What kinds of arcs look like: a small picture and its name.
    keys: Vec<(String, String)>,
    figures: Vec<Figure>,
    tables: Vec<DataTable>,
    /// Row `i` of its tables has the anchor `{row_anchor}{i}`; none if empty.
    row_anchor: String,
    /// A table that follows a threshold.
    panel: Option<Panel>,
    /// Alternatives, of which one is shown at a time.
    tabs: Vec<Tab>,
    /// Things to open one by one.
    details: Vec<Detail>,
}

/// One of several alternatives.
#[derive(Debug, Clone, Default, Serialize)]
struct Tab {
    id: String,
    name: String,
    text: Vec<String>,
    figures: Vec<Figure>,
    tables: Vec<DataTable>,
}

/// Something to open.
#[derive(Debug, Clone, Serialize)]
struct Detail {
    id: String,
    name: String,
    note: String,
    table: DataTable,
}

impl Section {
    fn new(id: &str, title: &str, text: impl Into<String>) -> Self {
        Section { id: id.into(), title: title.into(), text: vec![text.into()], ..Section::default() }
    }

    /// A section about `items`; `None` if there are none.
    fn about<T>(items: &[T], id: &str, title: &str, text: &str) -> Option<Self> {
        (!items.is_empty()).then(|| Section::new(id, title, text))
    }

    /// The section of facts and warnings.
    fn facts(text: String, caption: &str, origin: &Origin) -> Self {
        let mut section = Section::new("facts", "Facts", text);
        section.text.extend(origin.warnings.iter().map(|w| format!("Warning: {w}")));
        let mut table = DataTable::new(caption, &["fact", "value"]);
        let row =
            |(name, value): &(String, String)| vec![Cell::text(name.clone()), Cell::text(value.clone())];
        table.rows = origin.facts.iter().map(row).collect();
        section.tables.push(table);
        section
    }
}

impl Page {
    /// The page as HTML; an error means that the template itself is wrong.
    fn html(&self) -> Result<String, minijinja::Error> {
        let script = match &self.explorer {
            Some(_) => Cow::from(SCRIPT.to_string() + &explorer::script()),
            None => Cow::from(SCRIPT),
        };
        let style = match &self.explorer {
            Some(_) => Cow::from(STYLE.to_string() + explorer::STYLE),
            None => Cow::from(STYLE),
        };
        let mut environment = Environment::new();
        environment.add_template("page.html", TEMPLATE)?;
        environment.get_template("page.html")?.render(context! {
            page => self,
            style => style,
            script => script,
            style_hash => content_hash(&style),
            script_hash => content_hash(&script),
            version => env!("CARGO_PKG_VERSION"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_the_policy_names_the_inline_parts() {
        let page = Page {
            title: "<img src=x onerror=alert(1)>".into(),
            sections: vec![Section::new("a", "<b>", "\"quoted\" & <i>")],
            ..Page::default()
        };
        let html = page.html().unwrap();
        assert!(!html.contains("<img") && !html.contains("<b>") && !html.contains("<i>"));
        assert!(html.contains(&format!("style-src '{}'", content_hash(STYLE))));
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
        assert!(!html.contains(" style=\"") && !html.contains("http-equiv=\"refresh\""));
    }
}
