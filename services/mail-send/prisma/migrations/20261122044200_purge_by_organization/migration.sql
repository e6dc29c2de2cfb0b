-- Organizations take turns at being purged; the index leads from one to the next. Prisma's schema cannot say so.
DROP INDEX "deleted_inboxes_open";
CREATE INDEX "deleted_inboxes_open" ON "deleted_inboxes"("organization_id", "due_at") WHERE "ended_at" IS NULL;
