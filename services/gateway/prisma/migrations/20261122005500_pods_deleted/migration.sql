ALTER TABLE "pods" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);
DROP INDEX "pods_organization_id_client_id_key";
-- Only live pods hold their alias; Prisma's schema cannot say so.
CREATE UNIQUE INDEX "pods_client_id_live_key" ON "pods"("organization_id", "client_id") WHERE "deleted_at" IS NULL;
