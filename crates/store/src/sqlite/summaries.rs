//! The table of the threshold plan: one row for each summary with ends.

use compactometer_engine::record::SessionRecord;
use rusqlite::{Connection, params};

use crate::metadata::timestamp;

/// What stands for the text of a summary that is packed; the column takes no null.
const HIDDEN: &str = "(packed in packed_records)";

/// Adds the row of a summary, with US dollars of its calls where they are known.
pub(super) fn write(
    connection: &Connection,
    session: &str,
    saved: &SessionRecord,
    cost: Option<f64>,
) -> rusqlite::Result<()> {
    let Some((first, last)) = saved.covers else {
        return Ok(());
    };
    let ratio = (saved.tokens_before > 0)
        .then(|| f64::from(saved.tokens_after) / f64::from(saved.tokens_before));
    // As CURRENT_TIMESTAMP writes it, but from the session's time where it has one.
    let created = saved
        .created_at_ms
        .and_then(timestamp)
        .map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    connection.execute(
        "INSERT INTO checkpoint_summaries (session_id, checkpoint_num, from_message_id, to_message_id, \
         messages_compressed, summary_content, key_facts, original_tokens, compressed_tokens, compression_ratio, \
         summary_cost_usd, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, coalesce(?12, CURRENT_TIMESTAMP))",
        params![
            session,
            saved.number,
            first.0,
            last.0,
            i64::from(last.0) - i64::from(first.0) + 1,
            saved.body,
            key_facts(&saved.body),
            saved.tokens_before,
            saved.tokens_after,
            ratio,
            cost,
            created,
        ],
    )?;
    Ok(())
}

/// Takes the text out of all but the newest `keep` rows, where it is packed; all else of a row
/// stays, its key facts too, so that queries over sizes, costs and facts reach every summary.
pub(super) fn hide_old(
    connection: &Connection,
    session: &str,
    keep: usize,
) -> rusqlite::Result<()> {
    let sql = "UPDATE checkpoint_summaries SET summary_content = ?3 WHERE session_id = ?1 \
               AND summary_content <> ?3 AND checkpoint_num NOT IN (SELECT checkpoint_num FROM checkpoint_summaries \
               WHERE session_id = ?1 ORDER BY checkpoint_num DESC LIMIT ?2) \
               AND checkpoint_num NOT IN (SELECT number FROM saved_records WHERE session_id = ?1)";
    let keep = i64::try_from(keep).unwrap_or(i64::MAX);
    connection
        .execute(sql, params![session, keep, HIDDEN])
        .map(drop)
}

/// The lines under the heading "Key facts", as a JSON list; none where the summary has no such
/// section.
fn key_facts(body: &str) -> Option<String> {
    let title = |line: &str| line.trim_matches([' ', '#', '*', ':']).to_lowercase();
    let lines = body
        .lines()
        .skip_while(|line| title(line) != "key facts")
        .skip(1);
    let lines = lines.map(str::trim).skip_while(|line| line.is_empty());
    let facts = lines.take_while(|line| !line.is_empty() && !line.starts_with('#'));
    let facts = facts
        .map(|line| {
            line.strip_prefix("- ")
                .or(line.strip_prefix("* "))
                .unwrap_or(line)
        })
        .collect::<Vec<_>>();
    (!facts.is_empty()).then(|| serde_json::Value::from(facts).to_string())
}

#[cfg(test)]
mod tests {
    use super::key_facts;

    #[test]
    fn key_facts_are_the_lines_under_their_heading() {
        let list = |body: &str| key_facts(body);
        assert_eq!(
            list("- done\n\nKey facts:\n- svc-7: 455\n* `a.rs`: the file"),
            Some(r#"["svc-7: 455","`a.rs`: the file"]"#.into())
        );
        assert_eq!(
            list("**Key facts**:\n\nport 8080\n\nNext steps:\n- none"),
            Some(r#"["port 8080"]"#.into())
        );
        assert_eq!(
            list("## Key Facts\n- one\n## Other\n- two"),
            Some(r#"["one"]"#.into())
        );
        assert_eq!(list("the key facts: none of these"), None);
        assert_eq!(list("Key facts:\n"), None);
        assert_eq!(list(""), None);
    }
}
