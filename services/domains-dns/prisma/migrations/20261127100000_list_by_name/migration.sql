-- DropIndex
DROP INDEX "domains_organization_id_created_at_uid_idx";

-- CreateIndex
CREATE INDEX "domains_organization_id_created_at_name_idx" ON "domains"("organization_id", "created_at", "name");
