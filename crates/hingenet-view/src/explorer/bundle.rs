//! Joins the modules of the explorer into one script: a page has a single inline script, whose hash its policy names.
//! Modules are written so that this is simple: imports and exports each begin a line, and no two modules share a name.

/// The modules one after the other in a scope of their own, without imports and exports.
pub(crate) fn bundle(modules: &[(&str, &str)]) -> String {
    let mut script = String::from("{\n");
    for (name, text) in modules {
        script.push_str(&format!("// {name}\n"));
        for line in text.lines() {
            if line.trim().is_empty() || is_note(line) || line.starts_with("import ") {
                continue;
            }
            script.push_str(line.strip_prefix("export ").unwrap_or(line).trim_start());
            script.push('\n');
        }
    }
    script.push_str("}\n");
    script
}

/// Whether a line is a comment.
fn is_note(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with("//") || bare.starts_with("/*") || bare.starts_with("* ") || bare == "*/"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::{MODULES, STYLE};
    use std::collections::BTreeSet;

    #[test]
    fn modules_become_one_script() {
        let modules = [
            ("a.js", "// why\nexport function f() {\n  return 1;\n}\n"),
            ("b.js", "import { f } from \"./a.js\";\nf();\n"),
        ];
        assert_eq!(bundle(&modules), "{\n// a.js\nfunction f() {\nreturn 1;\n}\n// b.js\nf();\n}\n");
    }

    /// What `bundle` relies on.
    #[test]
    fn modules_keep_the_rules() {
        let mut names = BTreeSet::new();
        for (file, text) in MODULES {
            assert!(!text.contains("</") && !text.contains("innerHTML") && !text.contains('\t'), "{file}");
            assert!(!text.contains("export default") && !text.contains("export {"), "{file}");
            for line in text.lines().filter(|line| !is_note(line)) {
                assert!(!line.contains("import("), "{file}: {line}");
                if line.starts_with("import ") {
                    assert!(line.ends_with(".js\";"), "{file}: an import is one line: {line}");
                }
                let declared = line.strip_prefix("export ").unwrap_or(line);
                let name = ["function ", "async function ", "const ", "let ", "class "]
                    .iter()
                    .find_map(|kind| declared.strip_prefix(kind))
                    .and_then(|rest| {
                        rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next()
                    });
                if let Some(name) = name.filter(|n| !n.is_empty()) {
                    assert!(names.insert(name.to_string()), "{file}: `{name}` is in two modules");
                }
            }
        }
        assert!(!STYLE.contains("</"));
    }
}
