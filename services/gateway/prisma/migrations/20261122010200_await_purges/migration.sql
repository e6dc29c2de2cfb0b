-- Whether an address is still being purged is asked at each create; Prisma's schema cannot say so.
CREATE INDEX "inboxes_address_deleted_idx" ON "inboxes"("address") WHERE "deleted_at" IS NOT NULL;

-- Inboxes that were deleted before: their names go now, their rows when every service says that they are purged.
UPDATE "inboxes" SET "display_name" = NULL, "client_id" = NULL, "metadata" = '{}' WHERE "deleted_at" IS NOT NULL;
INSERT INTO "timers" ("id", "kind", "key", "due_at", "payload")
SELECT gen_random_uuid(), 'inbox-purge', "uid"::text, now(), '{"done": []}' FROM "inboxes" WHERE "deleted_at" IS NOT NULL;
