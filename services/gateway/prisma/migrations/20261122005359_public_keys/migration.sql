-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "client_id" TEXT,
ADD COLUMN     "created_by" UUID,
ADD COLUMN     "fingerprint" TEXT,
ADD COLUMN     "public_key" JSONB,
ALTER COLUMN "secret_hash" DROP NOT NULL,
ALTER COLUMN "prefix" DROP NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "credentials_organization_id_client_id_key" ON "credentials"("organization_id", "client_id");

-- A credential has what its family needs and nothing of the other.
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_family_check" CHECK (CASE "type"
    WHEN 'bearer' THEN "secret_hash" IS NOT NULL AND "prefix" IS NOT NULL
        AND num_nonnulls("public_key", "fingerprint", "client_id", "created_by") = 0
    WHEN 'public_key' THEN "secret_hash" IS NULL AND "prefix" IS NULL AND "permissions" IS NOT NULL
        AND num_nonnulls("public_key", "fingerprint", "created_by") = 3
    ELSE false END);
