//! Parses the JSON object that an instruction shows, leniently, since comments, ellipses and
//! doubled braces are common there. A JSON schema of the request gives the same tree.

use serde_json::Value;

/// The shape of a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ShapeNode {
    /// Fixed keys, in order.
    Object(Vec<ShapeField>),
    /// Arbitrary keys with texts.
    Map,
    /// A list of values of one shape.
    List(Box<ShapeNode>),
    /// A text.
    Text,
}

/// A key of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShapeField {
    /// The key.
    pub(crate) key: String,
    /// The comment on it.
    pub(crate) note: String,
    /// The shape of its value.
    pub(crate) node: ShapeNode,
}

/// The largest JSON object that a text shows.
pub(crate) fn shown(text: &str) -> Option<ShapeNode> {
    let mut best: Option<ShapeNode> = None;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        let mut reader = SchemaReader {
            text,
            at: open,
            doubled: text[open..].starts_with("{{"),
            depth: 0,
        };
        let node = reader
            .value("")
            .filter(|node| matches!(node, ShapeNode::Object(_)) && leaves(node) > 0);
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
pub(crate) fn of_schema(schema: &Value) -> Option<ShapeNode> {
    let schema = schema.get("schema").unwrap_or(schema);
    of_schema_node(schema, 0).filter(|node| matches!(node, ShapeNode::Object(_) | ShapeNode::Map))
}

/// The largest depth that is read. No real prompt nests this deep, but hostile text may.
const DEEPEST: usize = 16;

fn of_schema_node(schema: &Value, depth: usize) -> Option<ShapeNode> {
    if depth > DEEPEST {
        return None;
    }
    let inner = |schema: &Value| of_schema_node(schema, depth + 1).unwrap_or(ShapeNode::Text);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let note = |value: &Value| {
            value
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let field = |(key, value): (&String, &Value)| ShapeField {
            key: key.clone(),
            note: note(value),
            node: inner(value),
        };
        return Some(ShapeNode::Object(properties.iter().map(field).collect()));
    }
    match schema.get("type").and_then(Value::as_str)? {
        "object" => Some(ShapeNode::Map),
        "array" => Some(ShapeNode::List(Box::new(
            schema.get("items").map_or(ShapeNode::Text, inner),
        ))),
        _ => Some(ShapeNode::Text),
    }
}

fn leaves(node: &ShapeNode) -> usize {
    match node {
        ShapeNode::Object(fields) => fields.iter().map(|field| leaves(&field.node)).sum(),
        ShapeNode::List(inner) => leaves(inner),
        ShapeNode::Map | ShapeNode::Text => 1,
    }
}

struct SchemaReader<'t> {
    text: &'t str,
    at: usize,
    doubled: bool,
    depth: usize,
}

impl<'t> SchemaReader<'t> {
    fn value(&mut self, key: &str) -> Option<ShapeNode> {
        self.blanks();
        self.depth += 1;
        let node = match self.peek()? {
            _ if self.depth > DEEPEST => None,
            '{' => self.object(key),
            '[' => self.list(),
            '"' => self.string().map(|_| ShapeNode::Text),
            _ => self.bare(),
        };
        self.depth -= 1;
        node
    }

    fn object(&mut self, key: &str) -> Option<ShapeNode> {
        self.brace('{')?;
        let mut fields: Vec<ShapeField> = Vec::new();
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
                    fields.push(ShapeField {
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

    fn list(&mut self) -> Option<ShapeNode> {
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
        Some(ShapeNode::List(Box::new(inner.unwrap_or(ShapeNode::Text))))
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
    fn bare(&mut self) -> Option<ShapeNode> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', '\n']).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(ShapeNode::Text)
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
fn mapped(key: &str, fields: Vec<ShapeField>) -> ShapeNode {
    let only_texts = !fields.is_empty() && fields.iter().all(|field| field.node == ShapeNode::Text);
    if only_texts && key.ends_with('s') && !key.ends_with("ss") {
        ShapeNode::Map
    } else {
        ShapeNode::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(node: &ShapeNode) -> String {
        match node {
            ShapeNode::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|field| format!("{}:{}", field.key, outline(&field.node)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(" "))
            }
            ShapeNode::Map => "map".to_owned(),
            ShapeNode::List(inner) => format!("[{}]", outline(inner)),
            ShapeNode::Text => "text".to_owned(),
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
