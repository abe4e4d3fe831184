-- Records of older commits, taken out of `saved_records` and packed with zstd: `records` of them from
-- `first_record` on. `plain_bytes` long is their JSON, a list of pairs: what stood in `saved_records.record`, and what stood in
-- `checkpoint_summaries.summary_content` or null. The dictionary is such a list of the newer records named by `against_first`
-- and `against_records`.
CREATE TABLE packed_records (
  session_id TEXT NOT NULL,
  first_record INTEGER NOT NULL,
  records INTEGER NOT NULL,
  against_first INTEGER NOT NULL,
  against_records INTEGER NOT NULL,
  plain_bytes INTEGER NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (session_id, first_record)
);
