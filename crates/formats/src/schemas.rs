//! JSON Schemas of the file formats, derived from the types, for programs in other languages.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::record::TextRow;
use crate::scenario::Scenario;
use crate::suite::Header;
use crate::summary::Summary;
use crate::{baseline, manifest, record, strategy_protocol};

/// A file format.
pub struct SchemaFormat {
    /// The name that users type.
    pub name: &'static str,
    /// What the format describes.
    pub about: &'static str,
    /// Its JSON Schema, of draft 2020-12.
    pub schema: fn() -> Schema,
}

/// Every format with a schema.
pub const ALL: &[SchemaFormat] = &[
    SchemaFormat {
        name: "suite",
        about: "a line of a suite: first a header, then scenarios; read, so what may be absent is not required",
        schema: || schema_of::<SuiteLine>(SchemaSettings::draft2020_12()),
    },
    SchemaFormat {
        name: "record",
        about: "a line of `records.jsonl`: all that one replay showed",
        schema: written_schema::<record::LineOfRecord<'_>>,
    },
    SchemaFormat {
        name: "text",
        about: "a line of `texts.jsonl`: a text that records name by hash",
        schema: written_schema::<TextRow>,
    },
    SchemaFormat {
        name: "manifest",
        about: "`manifest.json`: what a run was resolved to",
        schema: written_schema::<manifest::Manifest>,
    },
    SchemaFormat {
        name: "summary",
        about: "`summary.json`: a report's numbers, the stable interface to them",
        schema: written_schema::<Summary>,
    },
    SchemaFormat {
        name: "baseline",
        about: "what `gate --update` writes: a run as later ones are held against it",
        schema: written_schema::<baseline::BaselineFile>,
    },
    SchemaFormat {
        name: "strategy-ask",
        about: "a line that a strategy's program reads",
        schema: written_schema::<strategy_protocol::Ask>,
    },
    SchemaFormat {
        name: "strategy-reply",
        about: "a line that a strategy's program writes",
        schema: || schema_of::<strategy_protocol::Reply>(SchemaSettings::draft2020_12()),
    },
];

/// A line of a suite.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the shape alone is of use")]
enum SuiteLine {
    Header(Header),
    Scenario(Box<Scenario>),
}

/// The schema of what this version writes.
fn written_schema<T: JsonSchema>() -> Schema {
    schema_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings
        .with_transform(RecursiveTransform(as_prose))
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Descriptions are the types' documentation, whose links lead nowhere outside it, and whose lines
/// end where the source's do.
fn as_prose(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let unlinked = description.replace("[`", "`").replace("`]", "`");
        let paragraphs = unlinked.split("\n\n").map(|lines| lines.replace('\n', " "));
        *description = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
}
