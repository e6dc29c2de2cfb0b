-- Organizations take turns at being purged; the index leads from one to the next. Prisma's schema cannot say so.
DROP INDEX "deleted_inboxes_unpurged";
CREATE INDEX "deleted_inboxes_unpurged" ON "deleted_inboxes"("organization_id", "due_at") WHERE "purged_at" IS NULL;
