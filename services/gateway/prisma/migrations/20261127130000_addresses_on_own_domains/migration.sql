-- AlterTable
ALTER TABLE "inboxes" ADD COLUMN     "own_domain" BOOLEAN NOT NULL DEFAULT false;

-- An address on a shared domain is one inbox of the installation. One on the domain of an organization may have been an
-- inbox of the domain's former owner, who still reads it: it is unique in its organization only.
DROP INDEX "inboxes_address_live_key";
CREATE UNIQUE INDEX "inboxes_address_live_key" ON "inboxes"("address") WHERE "deleted_at" IS NULL AND NOT "own_domain";
CREATE UNIQUE INDEX "inboxes_own_address_live_key" ON "inboxes"("organization_id", "address") WHERE "deleted_at" IS NULL AND "own_domain";
-- Each recipient of a mail is looked up by its address, wherever its domain belongs.
CREATE INDEX "inboxes_address_live" ON "inboxes"("address") WHERE "deleted_at" IS NULL;
