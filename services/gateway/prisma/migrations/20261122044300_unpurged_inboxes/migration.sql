-- How many inboxes of an organization are still to be purged is counted at each step of its deletion; Prisma's schema
-- cannot say so.
CREATE INDEX "inboxes_unpurged" ON "inboxes"("organization_id") WHERE "deleted_at" IS NOT NULL;
