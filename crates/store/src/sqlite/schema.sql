-- Source 001, step 1, word for word. One row for each summary; `checkpoint_num` is the record's number, so numbers of
-- checkpoints and failed attempts are missing. `messages_compressed` counts the ids from first to last. The texts of
-- older rows are packed.
CREATE TABLE IF NOT EXISTS checkpoint_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  checkpoint_num INTEGER NOT NULL,
  from_message_id INTEGER NOT NULL,
  to_message_id INTEGER NOT NULL,
  messages_compressed INTEGER,
  summary_content TEXT NOT NULL,
  key_facts TEXT,
  original_tokens INTEGER,
  compressed_tokens INTEGER,
  compression_ratio REAL,
  summary_cost_usd REAL,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  UNIQUE(session_id, checkpoint_num)
);
CREATE INDEX IF NOT EXISTS idx_checkpoint_session
  ON checkpoint_summaries(session_id);

-- Each thread, and how many commits and rollbacks it had.
CREATE TABLE threads (
  session_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL
) WITHOUT ROWID;

-- The records of the newest two commits, as JSON; the body of one that has a row in `checkpoint_summaries` stands there
-- alone.
CREATE TABLE saved_records (
  session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (session_id, number)
);

-- The view after each of the newest commits, as JSON; the newest is the thread's own.
CREATE TABLE views (
  session_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  first_record INTEGER NOT NULL,
  records INTEGER NOT NULL,
  names_version INTEGER NOT NULL,
  after_message INTEGER NOT NULL,
  view TEXT NOT NULL,
  PRIMARY KEY (session_id, sequence)
);

CREATE TABLE rollbacks (
  session_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at_record INTEGER NOT NULL,
  to_record INTEGER NOT NULL,
  PRIMARY KEY (session_id, sequence)
) WITHOUT ROWID;
