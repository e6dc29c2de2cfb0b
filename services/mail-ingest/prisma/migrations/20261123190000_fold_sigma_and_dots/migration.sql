-- A Greek sigma and a Turkish capital i are folded in another way: every message is indexed again.
INSERT INTO "unindexed_messages" ("id") SELECT "id" FROM "messages" ON CONFLICT DO NOTHING;
