//! `hingenet models`

use super::Run;
use crate::output;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use hingenet::model::{DEFAULT_MODEL, ModelInfo, ModelSpec, models};
use std::fmt::Write;

#[derive(Args)]
pub struct Models {
    /// The model to show with its options; a list of all if none is named
    name: Option<String>,
}

impl Run for Models {
    fn run(&self, _: &Session) -> Result<()> {
        let text = match &self.name {
            Some(name) => describe(ModelSpec::new(name)?.info()),
            None => overview(),
        };
        output::write_text(None, &text)
    }
}

fn describe(model: &ModelInfo) -> String {
    let mut text = format!("{:<16} {}{}\n", model.name, model.about, default_words(model.name));
    for option in model.options {
        let _ = writeln!(text, "  {} (default {}; {}):", option.key, option.default, option.kind);
        let _ = writeln!(text, "    {}", option.about);
    }
    text
}

fn default_words(name: &str) -> &'static str {
    if name == DEFAULT_MODEL { " (the default)" } else { "" }
}

/// Models that differ in the rule behind the colon: what they share, and each rule with what it adds.
struct Family {
    name: &'static str,
    about: &'static str,
    rules: Vec<(&'static str, &'static str)>,
}

/// All models on one screen, rules of learning told once for all families that have them.
fn overview() -> String {
    let mut text = String::from(
        "NAME or NAME,key=value,... such as tan:ml,alpha=2; `hingenet models NAME` shows the options\n\n",
    );
    let families = families();
    for (i, family) in families.iter().enumerate() {
        let rule = if family.rules.is_empty() { "" } else { ":RULE" };
        let name = format!("{}{rule}", family.name);
        let _ = writeln!(text, "{name:<12} {}{}", family.about, default_words(&name));
        if families.get(i + 1).is_none_or(|next| next.rules != family.rules) {
            for (rule, about) in &family.rules {
                let _ = writeln!(text, "  :{rule:<12} {about}");
            }
        }
    }
    text
}

fn families() -> Vec<Family> {
    let mut names: Vec<&str> = models().iter().map(|m| before(m.name, ':')).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    let family = |name: &'static str| {
        let members: Vec<&ModelInfo> = models().iter().filter(|m| before(m.name, ':') == name).collect();
        let [first, others @ ..] = members.as_slice() else { return None };
        let shared = others.iter().map(|m| common(first.about, m.about)).min().unwrap_or(first.about.len());
        let rule = |m: &&ModelInfo| Some((m.name.split_once(':')?.1, m.about.get(shared..)?));
        let about = first.about[..shared].trim_end_matches([' ', ',', ':']);
        Some(Family { name, about, rules: members.iter().filter_map(rule).collect() })
    };
    names.into_iter().filter_map(family).collect()
}

fn before(text: &'static str, mark: char) -> &'static str {
    text.split(mark).next().unwrap_or(text)
}

/// Length of the words that two sentences begin with, up to a comma or colon.
fn common(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let same = &a[..same];
    [", ", ": "].iter().filter_map(|mark| same.rfind(mark).map(|at| at + 2)).max().unwrap_or(0)
}
