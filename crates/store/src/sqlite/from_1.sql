-- Version 1 kept every record plain. A process of that version that still has the database open finds no table `records` any
-- more, and so neither misses packed ones nor deletes a thread without them.
ALTER TABLE records RENAME TO saved_records;
