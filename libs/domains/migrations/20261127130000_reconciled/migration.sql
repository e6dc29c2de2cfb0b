-- Whether the organization has proven the name. None has been published yet; the first reconciliation fills it.
ALTER TABLE "registered_domains" ADD COLUMN "proven" BOOLEAN NOT NULL DEFAULT false;
-- When its owner last said that the registration exists; rows that it no longer has are deleted.
ALTER TABLE "registered_domains" ADD COLUMN "reconciled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
CREATE INDEX "registered_domains_reconciled_at_idx" ON "registered_domains"("reconciled_at");
