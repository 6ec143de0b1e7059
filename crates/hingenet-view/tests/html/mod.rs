//! Reads the tables of a page back, as plain text and numbers. Knows the markup of our own template only.

/// One table with the anchor it belongs to: a figure, something to open, or a section.
pub struct Table {
    pub id: String,
    pub caption: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// What a reader sees, and the full number behind it.
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
}

/// All tables of a page in order.
pub fn tables(page: &str) -> Vec<Table> {
    let mut found = Vec::new();
    let mut rest = page;
    let mut id = String::new();
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        for tag in ["<section id=\"", "<figure id=\"", "<details class=\"item\" id=\""] {
            if let Some(named) = rest.strip_prefix(tag) {
                id = named.split('"').next().unwrap().to_string();
            }
        }
        if let Some(end) = rest.starts_with("</figure>").then_some("</figure>".len()) {
            // what follows belongs to the section again
            let before = &page[..page.len() - rest.len()];
            id = before.rsplit("<section id=\"").next().unwrap().split('"').next().unwrap().to_string();
            rest = &rest[end..];
            continue;
        }
        if rest.starts_with("<table") {
            let end = rest.find("</table>").unwrap();
            found.push(table(&rest[..end], id.clone()));
            rest = &rest[end..];
        }
        rest = &rest[1..];
    }
    assert!(!found.is_empty(), "there is no table");
    found
}

fn table(markup: &str, id: String) -> Table {
    let (head, body) = markup.split_once("<tbody>").unwrap();
    let header = head.split("<th scope=\"col\">").skip(1).map(|h| plain(before(h, "</th>"))).collect();
    let rows = body.split("<tr>").skip(1).map(|row| row.split("<t").skip(1).map(cell).collect()).collect();
    Table { id, caption: plain(between(head, "<caption>", "</caption>")), header, rows }
}

/// A cell after its `<t`.
fn cell(markup: &str) -> Cell {
    let (tag, rest) = markup.split_once('>').unwrap();
    let value = tag.split_once("data-v=\"").map(|(_, v)| before(v, "\"").parse().unwrap());
    // a small picture is no text
    Cell { text: plain(before(before(rest, "</t"), "<svg")), value }
}

/// The headline figures.
pub fn cards(page: &str) -> Vec<Cell> {
    let card = |part: &str| {
        let (value, rest) = part.split_once("\">").unwrap();
        let text = before(rest, "</dd>").replace("<span class=\"interval-text\">", "").replace("</span>", "");
        Cell { text: plain(&text), value: Some(value.parse().unwrap()) }
    };
    page.split("<dd class=\"value\" data-v=\"").skip(1).map(card).collect()
}

/// The text after a tag.
pub fn text_of(page: &str, tag: &str) -> String {
    plain(before(page.split_once(tag).unwrap().1, "</p>"))
}

fn before<'a>(text: &'a str, end: &str) -> &'a str {
    text.split(end).next().unwrap()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    before(text.split_once(start).unwrap().1, end)
}

fn plain(markup: &str) -> String {
    assert!(!markup.contains('<'), "{markup}");
    let named =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&#x2f;", "/")];
    let text = named.iter().fold(markup.to_string(), |text, (from, to)| text.replace(from, to));
    text.replace("&amp;", "&")
}
