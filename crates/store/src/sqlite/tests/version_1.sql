-- A database that version 1 of the format wrote: 25 commits of two processes, one summary each.
PRAGMA application_id = 1131245677;
PRAGMA user_version = 1;
CREATE TABLE checkpoint_summaries (
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
INSERT INTO "checkpoint_summaries" VALUES(1,'telegram:1',0,0,9,10,'Round 0: the quota of svc-0 stands at 055. Round 0: the quota of svc-0 stands at 055. Round 0: the quota of svc-0 stands at 055. Round 0: the quota of svc-0 stands at 055. Round 0: the quota of svc-0 ',NULL,9000,2000,2.22222222222222209886e-01,NULL,'2026-01-31 14:33:20');
INSERT INTO "checkpoint_summaries" VALUES(2,'telegram:1',1,10,19,10,'Round 1: the quota of svc-1 stands at 155. Round 1: the quota of svc-1 stands at 155. Round 1: the quota of svc-1 stands at 155. Round 1: the quota of svc-1 stands at 155. Round 1: the quota of svc-1 ',NULL,9001,2001,2.22308632374180636936e-01,NULL,'2026-01-31 14:33:20');
INSERT INTO "checkpoint_summaries" VALUES(3,'telegram:1',2,20,29,10,'Round 2: the quota of svc-2 stands at 255. Round 2: the quota of svc-2 stands at 255. Round 2: the quota of svc-2 stands at 255. Round 2: the quota of svc-2 stands at 255. Round 2: the quota of svc-2 ',NULL,9002,2002,2.22395023328149310515e-01,NULL,'2026-01-31 14:33:20');
INSERT INTO "checkpoint_summaries" VALUES(4,'telegram:1',3,30,39,10,'Round 3: the quota of svc-3 stands at 355. Round 3: the quota of svc-3 stands at 355. Round 3: the quota of svc-3 stands at 355. Round 3: the quota of svc-3 stands at 355. Round 3: the quota of svc-3 ',NULL,9003,2003,2.224813950905253912e-01,NULL,'2026-01-31 14:33:21');
INSERT INTO "checkpoint_summaries" VALUES(5,'telegram:1',4,40,49,10,'Round 4: the quota of svc-4 stands at 455. Round 4: the quota of svc-4 stands at 455. Round 4: the quota of svc-4 stands at 455. Round 4: the quota of svc-4 stands at 455. Round 4: the quota of svc-4 ',NULL,9004,2004,2.22567747667703236258e-01,NULL,'2026-01-31 14:33:21');
INSERT INTO "checkpoint_summaries" VALUES(6,'telegram:1',5,50,59,10,'Round 5: the quota of svc-5 stands at 555. Round 5: the quota of svc-5 stands at 555. Round 5: the quota of svc-5 stands at 555. Round 5: the quota of svc-5 stands at 555. Round 5: the quota of svc-5 ',NULL,9005,2005,2.22654081066074399641e-01,NULL,'2026-01-31 14:33:22');
INSERT INTO "checkpoint_summaries" VALUES(7,'telegram:1',6,60,69,10,'Round 6: the quota of svc-6 stands at 655. Round 6: the quota of svc-6 stands at 655. Round 6: the quota of svc-6 stands at 655. Round 6: the quota of svc-6 stands at 655. Round 6: the quota of svc-6 ',NULL,9006,2006,2.22740395292027548723e-01,NULL,'2026-01-31 14:33:22');
INSERT INTO "checkpoint_summaries" VALUES(8,'telegram:1',7,70,79,10,'Round 7: the quota of svc-7 stands at 755. Round 7: the quota of svc-7 stands at 755. Round 7: the quota of svc-7 stands at 755. Round 7: the quota of svc-7 stands at 755. Round 7: the quota of svc-7 ',NULL,9007,2007,2.22826690351948492052e-01,NULL,'2026-01-31 14:33:22');
INSERT INTO "checkpoint_summaries" VALUES(9,'telegram:1',8,80,89,10,'Round 8: the quota of svc-8 stands at 855. Round 8: the quota of svc-8 stands at 855. Round 8: the quota of svc-8 stands at 855. Round 8: the quota of svc-8 stands at 855. Round 8: the quota of svc-8 ',NULL,9008,2008,2.22912966252220234864e-01,NULL,'2026-01-31 14:33:23');
INSERT INTO "checkpoint_summaries" VALUES(10,'telegram:1',9,90,99,10,'Round 9: the quota of svc-9 stands at 955. Round 9: the quota of svc-9 stands at 955. Round 9: the quota of svc-9 stands at 955. Round 9: the quota of svc-9 stands at 955. Round 9: the quota of svc-9 ',NULL,9009,2009,0.222999222999223,NULL,'2026-01-31 14:33:23');
INSERT INTO "checkpoint_summaries" VALUES(11,'telegram:1',10,100,109,10,'Round 10: the quota of svc-10 stands at 055. Round 10: the quota of svc-10 stands at 055. Round 10: the quota of svc-10 stands at 055. Round 10: the quota of svc-10 stands at 055. Round 10: the quota ',NULL,9010,2010,2.23085460599334067799e-01,NULL,'2026-01-31 14:33:24');
INSERT INTO "checkpoint_summaries" VALUES(12,'telegram:1',11,110,119,10,'Round 11: the quota of svc-11 stands at 155. Round 11: the quota of svc-11 stands at 155. Round 11: the quota of svc-11 stands at 155. Round 11: the quota of svc-11 stands at 155. Round 11: the quota ',NULL,9011,2011,2.23171679058927985295e-01,NULL,'2026-01-31 14:33:24');
INSERT INTO "checkpoint_summaries" VALUES(13,'telegram:1',12,120,129,10,'Round 12: the quota of svc-12 stands at 255. Round 12: the quota of svc-12 stands at 255. Round 12: the quota of svc-12 stands at 255. Round 12: the quota of svc-12 stands at 255. Round 12: the quota ',NULL,9012,2012,2.23257878384376384772e-01,NULL,'2026-01-31 14:33:24');
INSERT INTO "checkpoint_summaries" VALUES(14,'telegram:1',13,130,139,10,'Round 13: the quota of svc-13 stands at 355. Round 13: the quota of svc-13 stands at 355. Round 13: the quota of svc-13 stands at 355. Round 13: the quota of svc-13 stands at 355. Round 13: the quota ',NULL,9013,2013,2.23344058582048143879e-01,NULL,'2026-01-31 14:33:25');
INSERT INTO "checkpoint_summaries" VALUES(15,'telegram:1',14,140,149,10,'Round 14: the quota of svc-14 stands at 455. Round 14: the quota of svc-14 stands at 455. Round 14: the quota of svc-14 stands at 455. Round 14: the quota of svc-14 stands at 455. Round 14: the quota ',NULL,9014,2014,2.23430219658309309194e-01,NULL,'2026-01-31 14:33:25');
INSERT INTO "checkpoint_summaries" VALUES(16,'telegram:1',15,150,159,10,'Round 15: the quota of svc-15 stands at 555. Round 15: the quota of svc-15 stands at 555. Round 15: the quota of svc-15 stands at 555. Round 15: the quota of svc-15 stands at 555. Round 15: the quota ',NULL,9015,2015,0.223516361619523,NULL,'2026-01-31 14:33:26');
INSERT INTO "checkpoint_summaries" VALUES(17,'telegram:1',16,160,169,10,'Round 16: the quota of svc-16 stands at 655. Round 16: the quota of svc-16 stands at 655. Round 16: the quota of svc-16 stands at 655. Round 16: the quota of svc-16 stands at 655. Round 16: the quota ',NULL,9016,2016,2.2360248447204969513e-01,NULL,'2026-01-31 14:33:26');
INSERT INTO "checkpoint_summaries" VALUES(18,'telegram:1',17,170,179,10,'Round 17: the quota of svc-17 stands at 755. Round 17: the quota of svc-17 stands at 755. Round 17: the quota of svc-17 stands at 755. Round 17: the quota of svc-17 stands at 755. Round 17: the quota ',NULL,9017,2017,2.23688588222246853565e-01,NULL,'2026-01-31 14:33:26');
INSERT INTO "checkpoint_summaries" VALUES(19,'telegram:1',18,180,189,10,'Round 18: the quota of svc-18 stands at 855. Round 18: the quota of svc-18 stands at 855. Round 18: the quota of svc-18 stands at 855. Round 18: the quota of svc-18 stands at 855. Round 18: the quota ',NULL,9018,2018,2.23774672876469293836e-01,NULL,'2026-01-31 14:33:27');
INSERT INTO "checkpoint_summaries" VALUES(20,'telegram:1',19,190,199,10,'Round 19: the quota of svc-19 stands at 955. Round 19: the quota of svc-19 stands at 955. Round 19: the quota of svc-19 stands at 955. Round 19: the quota of svc-19 stands at 955. Round 19: the quota ',NULL,9019,2019,2.23860738441068851667e-01,NULL,'2026-01-31 14:33:27');
INSERT INTO "checkpoint_summaries" VALUES(21,'telegram:1',20,200,209,10,'Round 20: the quota of svc-20 stands at 055. Round 20: the quota of svc-20 stands at 055. Round 20: the quota of svc-20 stands at 055. Round 20: the quota of svc-20 stands at 055. Round 20: the quota ',NULL,9020,2020,2.23946784922394670491e-01,NULL,'2026-01-31 14:33:28');
INSERT INTO "checkpoint_summaries" VALUES(22,'telegram:1',21,210,219,10,'Round 21: the quota of svc-21 stands at 155. Round 21: the quota of svc-21 stands at 155. Round 21: the quota of svc-21 stands at 155. Round 21: the quota of svc-21 stands at 155. Round 21: the quota ',NULL,9021,2021,2.24032812326793034918e-01,NULL,'2026-01-31 14:33:28');
INSERT INTO "checkpoint_summaries" VALUES(23,'telegram:1',22,220,229,10,'Round 22: the quota of svc-22 stands at 255. Round 22: the quota of svc-22 stands at 255. Round 22: the quota of svc-22 stands at 255. Round 22: the quota of svc-22 stands at 255. Round 22: the quota ',NULL,9022,2022,2.24118820660607398487e-01,NULL,'2026-01-31 14:33:28');
INSERT INTO "checkpoint_summaries" VALUES(24,'telegram:1',23,230,239,10,'Round 23: the quota of svc-23 stands at 355. Round 23: the quota of svc-23 stands at 355. Round 23: the quota of svc-23 stands at 355. Round 23: the quota of svc-23 stands at 355. Round 23: the quota ',NULL,9023,2023,2.24204809930178439181e-01,NULL,'2026-01-31 14:33:29');
INSERT INTO "checkpoint_summaries" VALUES(25,'telegram:1',24,240,249,10,'Round 24: the quota of svc-24 stands at 455. Round 24: the quota of svc-24 stands at 455. Round 24: the quota of svc-24 stands at 455. Round 24: the quota of svc-24 stands at 455. Round 24: the quota ',NULL,9024,2024,2.24290780141843976158e-01,NULL,'2026-01-31 14:33:29');
CREATE TABLE records (
  session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (session_id, number)
);
INSERT INTO "records" VALUES('telegram:1',0,'{"number":0,"kind":"summary","covers":[0,9],"tokens_before":9000,"tokens_after":2000,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":0},"created_at_ms":1769870000000,"body":""}');
INSERT INTO "records" VALUES('telegram:1',1,'{"number":1,"kind":"summary","covers":[10,19],"tokens_before":9001,"tokens_after":2001,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":1},"created_at_ms":1769870000400,"body":""}');
INSERT INTO "records" VALUES('telegram:1',2,'{"number":2,"kind":"summary","covers":[20,29],"tokens_before":9002,"tokens_after":2002,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":2},"created_at_ms":1769870000800,"body":""}');
INSERT INTO "records" VALUES('telegram:1',3,'{"number":3,"kind":"summary","covers":[30,39],"tokens_before":9003,"tokens_after":2003,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":3},"created_at_ms":1769870001200,"body":""}');
INSERT INTO "records" VALUES('telegram:1',4,'{"number":4,"kind":"summary","covers":[40,49],"tokens_before":9004,"tokens_after":2004,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":4},"created_at_ms":1769870001600,"body":""}');
INSERT INTO "records" VALUES('telegram:1',5,'{"number":5,"kind":"summary","covers":[50,59],"tokens_before":9005,"tokens_after":2005,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":5},"created_at_ms":1769870002000,"body":""}');
INSERT INTO "records" VALUES('telegram:1',6,'{"number":6,"kind":"summary","covers":[60,69],"tokens_before":9006,"tokens_after":2006,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":6},"created_at_ms":1769870002400,"body":""}');
INSERT INTO "records" VALUES('telegram:1',7,'{"number":7,"kind":"summary","covers":[70,79],"tokens_before":9007,"tokens_after":2007,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":7},"created_at_ms":1769870002800,"body":""}');
INSERT INTO "records" VALUES('telegram:1',8,'{"number":8,"kind":"summary","covers":[80,89],"tokens_before":9008,"tokens_after":2008,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":8},"created_at_ms":1769870003200,"body":""}');
INSERT INTO "records" VALUES('telegram:1',9,'{"number":9,"kind":"summary","covers":[90,99],"tokens_before":9009,"tokens_after":2009,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":9},"created_at_ms":1769870003600,"body":""}');
INSERT INTO "records" VALUES('telegram:1',10,'{"number":10,"kind":"summary","covers":[100,109],"tokens_before":9010,"tokens_after":2010,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":10},"created_at_ms":1769870004000,"body":""}');
INSERT INTO "records" VALUES('telegram:1',11,'{"number":11,"kind":"summary","covers":[110,119],"tokens_before":9011,"tokens_after":2011,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":11},"created_at_ms":1769870004400,"body":""}');
INSERT INTO "records" VALUES('telegram:1',12,'{"number":12,"kind":"summary","covers":[120,129],"tokens_before":9012,"tokens_after":2012,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":12},"created_at_ms":1769870004800,"body":""}');
INSERT INTO "records" VALUES('telegram:1',13,'{"number":13,"kind":"summary","covers":[130,139],"tokens_before":9013,"tokens_after":2013,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":13},"created_at_ms":1769870005200,"body":""}');
INSERT INTO "records" VALUES('telegram:1',14,'{"number":14,"kind":"summary","covers":[140,149],"tokens_before":9014,"tokens_after":2014,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":14},"created_at_ms":1769870005600,"body":""}');
INSERT INTO "records" VALUES('telegram:1',15,'{"number":15,"kind":"summary","covers":[150,159],"tokens_before":9015,"tokens_after":2015,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":15},"created_at_ms":1769870006000,"body":""}');
INSERT INTO "records" VALUES('telegram:1',16,'{"number":16,"kind":"summary","covers":[160,169],"tokens_before":9016,"tokens_after":2016,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":16},"created_at_ms":1769870006400,"body":""}');
INSERT INTO "records" VALUES('telegram:1',17,'{"number":17,"kind":"summary","covers":[170,179],"tokens_before":9017,"tokens_after":2017,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":17},"created_at_ms":1769870006800,"body":""}');
INSERT INTO "records" VALUES('telegram:1',18,'{"number":18,"kind":"summary","covers":[180,189],"tokens_before":9018,"tokens_after":2018,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":18},"created_at_ms":1769870007200,"body":""}');
INSERT INTO "records" VALUES('telegram:1',19,'{"number":19,"kind":"summary","covers":[190,199],"tokens_before":9019,"tokens_after":2019,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":19},"created_at_ms":1769870007600,"body":""}');
INSERT INTO "records" VALUES('telegram:1',20,'{"number":20,"kind":"summary","covers":[200,209],"tokens_before":9020,"tokens_after":2020,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":20},"created_at_ms":1769870008000,"body":""}');
INSERT INTO "records" VALUES('telegram:1',21,'{"number":21,"kind":"summary","covers":[210,219],"tokens_before":9021,"tokens_after":2021,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":21},"created_at_ms":1769870008400,"body":""}');
INSERT INTO "records" VALUES('telegram:1',22,'{"number":22,"kind":"summary","covers":[220,229],"tokens_before":9022,"tokens_after":2022,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":22},"created_at_ms":1769870008800,"body":""}');
INSERT INTO "records" VALUES('telegram:1',23,'{"number":23,"kind":"summary","covers":[230,239],"tokens_before":9023,"tokens_after":2023,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":23},"created_at_ms":1769870009200,"body":""}');
INSERT INTO "records" VALUES('telegram:1',24,'{"number":24,"kind":"summary","covers":[240,249],"tokens_before":9024,"tokens_after":2024,"usage":{"input":1000,"cache_read":0,"cache_write":0,"output":24},"created_at_ms":1769870009600,"body":""}');
CREATE TABLE rollbacks (
  session_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at_record INTEGER NOT NULL,
  to_record INTEGER NOT NULL,
  PRIMARY KEY (session_id, sequence)
) WITHOUT ROWID;
CREATE TABLE threads (
  session_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "threads" VALUES('telegram:1',25);
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
INSERT INTO "views" VALUES('telegram:1',16,15,1,1,159,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 15"},"origin":{"summary":15}}]]},{"keep":159}]');
INSERT INTO "views" VALUES('telegram:1',17,16,1,1,169,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 16"},"origin":{"summary":16}}]]},{"keep":169}]');
INSERT INTO "views" VALUES('telegram:1',18,17,1,1,179,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 17"},"origin":{"summary":17}}]]},{"keep":179}]');
INSERT INTO "views" VALUES('telegram:1',19,18,1,1,189,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 18"},"origin":{"summary":18}}]]},{"keep":189}]');
INSERT INTO "views" VALUES('telegram:1',20,19,1,1,199,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 19"},"origin":{"summary":19}}]]},{"keep":199}]');
INSERT INTO "views" VALUES('telegram:1',21,20,1,1,209,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 20"},"origin":{"summary":20}}]]},{"keep":209}]');
INSERT INTO "views" VALUES('telegram:1',22,21,1,1,219,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 21"},"origin":{"summary":21}}]]},{"keep":219}]');
INSERT INTO "views" VALUES('telegram:1',23,22,1,1,229,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 22"},"origin":{"summary":22}}]]},{"keep":229}]');
INSERT INTO "views" VALUES('telegram:1',24,23,1,1,239,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 23"},"origin":{"summary":23}}]]},{"keep":239}]');
INSERT INTO "views" VALUES('telegram:1',25,24,1,1,249,'[{"keep":0},{"insert":["user",[{"part":{"type":"text","text":"so far: 24"},"origin":{"summary":24}}]]},{"keep":249}]');
CREATE INDEX idx_checkpoint_session
  ON checkpoint_summaries(session_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('checkpoint_summaries',25);
