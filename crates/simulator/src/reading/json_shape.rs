//! Parses the JSON object that an instruction shows, leniently, since comments, ellipses and
//! doubled braces are common there. A JSON schema of the request gives the same tree.

use serde_json::Value;

/// The shape of a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// Fixed keys, in order.
    Object(Vec<Field>),
    /// Arbitrary keys with texts.
    Map,
    /// A list of values of one shape.
    List(Box<Node>),
    /// A text.
    Text,
}

/// A key of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// The key.
    pub(crate) key: String,
    /// The comment on it.
    pub(crate) note: String,
    /// The shape of its value.
    pub(crate) node: Node,
}

/// The largest JSON object that a text shows.
pub(crate) fn shown(text: &str) -> Option<Node> {
    let mut best: Option<Node> = None;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        let mut reader = Reader {
            text,
            at: open,
            doubled: text[open..].starts_with("{{"),
            depth: 0,
        };
        let node = reader
            .value("")
            .filter(|node| matches!(node, Node::Object(_)) && leaves(node) > 0);
        at = if node.is_some() { reader.at } else { open + 1 };
        if let Some(node) = node
            && best
                .as_ref()
                .is_none_or(|best| leaves(&node) > leaves(best))
        {
            best = Some(node);
        }
    }
    best
}

/// The shape that a JSON schema describes, or a map if it only says that an object is wanted.
pub(crate) fn of_schema(schema: &Value) -> Option<Node> {
    let schema = schema.get("schema").unwrap_or(schema);
    of_schema_node(schema, 0).filter(|node| matches!(node, Node::Object(_) | Node::Map))
}

/// The largest depth that is read. No real prompt nests this deep, but hostile text may.
const DEEPEST: usize = 16;

fn of_schema_node(schema: &Value, depth: usize) -> Option<Node> {
    if depth > DEEPEST {
        return None;
    }
    let inner = |schema: &Value| of_schema_node(schema, depth + 1).unwrap_or(Node::Text);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let note = |value: &Value| {
            value
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let field = |(key, value): (&String, &Value)| Field {
            key: key.clone(),
            note: note(value),
            node: inner(value),
        };
        return Some(Node::Object(properties.iter().map(field).collect()));
    }
    match schema.get("type").and_then(Value::as_str)? {
        "object" => Some(Node::Map),
        "array" => Some(Node::List(Box::new(
            schema.get("items").map_or(Node::Text, inner),
        ))),
        _ => Some(Node::Text),
    }
}

fn leaves(node: &Node) -> usize {
    match node {
        Node::Object(fields) => fields.iter().map(|field| leaves(&field.node)).sum(),
        Node::List(inner) => leaves(inner),
        Node::Map | Node::Text => 1,
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    doubled: bool,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn value(&mut self, key: &str) -> Option<Node> {
        self.blanks();
        self.depth += 1;
        let node = match self.peek()? {
            _ if self.depth > DEEPEST => None,
            '{' => self.object(key),
            '[' => self.list(),
            '"' => self.string().map(|_| Node::Text),
            _ => self.bare(),
        };
        self.depth -= 1;
        node
    }

    fn object(&mut self, key: &str) -> Option<Node> {
        self.brace('{')?;
        let mut fields: Vec<Field> = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                '}' => break,
                ',' => self.at += 1,
                '"' => {
                    let key = self.string()?.to_owned();
                    self.blanks();
                    self.text[self.at..]
                        .starts_with(':')
                        .then(|| self.at += 1)?;
                    let node = self.value(&key)?;
                    fields.push(Field {
                        key,
                        note: self.note(),
                        node,
                    });
                }
                '.' | '…' => self.at += self.peek()?.len_utf8(),
                _ => return None,
            }
        }
        self.brace('}')?;
        Some(mapped(key, fields))
    }

    fn list(&mut self) -> Option<Node> {
        self.at += 1;
        let mut inner = None;
        loop {
            self.blanks();
            match self.peek()? {
                ']' => break,
                ',' => self.at += 1,
                _ => {
                    let item = self.value("")?;
                    inner.get_or_insert(item);
                }
            }
        }
        self.at += 1;
        Some(Node::List(Box::new(inner.unwrap_or(Node::Text))))
    }

    fn string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let mut escaped = false;
        for (at, letter) in self.text[start..].char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at = start + at + 1;
                    return Some(&self.text[start..start + at]);
                }
                '\n' => return None,
                _ => {}
            }
        }
        None
    }

    /// A number, a word or an ellipsis in the place of a value.
    fn bare(&mut self) -> Option<Node> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', '\n']).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(Node::Text)
    }

    fn brace(&mut self, brace: char) -> Option<()> {
        for _ in 0..=usize::from(self.doubled) {
            (self.peek()? == brace).then(|| self.at += 1)?;
        }
        Some(())
    }

    /// The comment that follows a value on its line.
    fn note(&mut self) -> String {
        let line = self.text[self.at..].lines().next().unwrap_or_default();
        line.split_once("//")
            .map_or(String::new(), |(_, note)| note.trim().to_owned())
    }

    fn blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let skipped = rest.trim_start();
            self.at += rest.len() - skipped.len();
            if !skipped.starts_with("//") {
                return;
            }
            self.at += skipped.find('\n').unwrap_or(skipped.len());
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
}

/// An object of texts under a plural key shows example entries of a map, whose keys are arbitrary.
fn mapped(key: &str, fields: Vec<Field>) -> Node {
    let only_texts = !fields.is_empty() && fields.iter().all(|field| field.node == Node::Text);
    if only_texts && key.ends_with('s') && !key.ends_with("ss") {
        Node::Map
    } else {
        Node::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(node: &Node) -> String {
        match node {
            Node::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| format!("{}:{}", field.key, outline(&field.node)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(" "))
            }
            Node::Map => "map".to_owned(),
            Node::List(inner) => format!("[{}]", outline(inner)),
            Node::Text => "text".to_owned(),
        }
    }

    fn read(text: &str) -> Option<String> {
        shown(text).as_ref().map(outline)
    }

    #[test]
    fn reads_what_prompts_show() {
        let plain = r#"{"goals": ["one", "two"], "work": [{"what": "x", "why": "y"}], "choices": {"topic": "it"}, "state": {"now": "z", "next": []}}"#;
        let expected =
            "{goals:[text] work:[{what:text why:text}] choices:map state:{now:text next:[text]}}";
        assert_eq!(
            read(&format!(
                "As {{name}} does: {plain} or {{\"goals\": [...], ...}}"
            ))
            .as_deref(),
            Some(expected)
        );
        let doubled = plain
            .replace('{', "{{")
            .replace('}', "}}")
            .replace("],", "], // with a note\n");
        assert_eq!(read(&doubled).as_deref(), Some(expected));
        assert_eq!(read("no {object} here {\"cut\": [1"), None);
    }

    #[test]
    fn reads_a_schema() {
        let schema = serde_json::json!({"type": "object", "properties": {
            "goals": {"type": "array", "items": {"type": "string"}}, "choices": {"type": "object"}, "now": {"type": "string"}}});
        assert_eq!(
            of_schema(&schema).as_ref().map(outline).as_deref(),
            Some("{goals:[text] choices:map now:text}")
        );
    }
}
