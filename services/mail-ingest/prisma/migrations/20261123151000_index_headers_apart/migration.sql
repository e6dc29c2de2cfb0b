-- Sender, recipients and subject have terms of their own now: every message is indexed again.
INSERT INTO "unindexed_messages" ("id") SELECT "id" FROM "messages" ON CONFLICT DO NOTHING;
