-- DropIndex
DROP INDEX "verification_codes_organization_id_key";

-- AlterTable
ALTER TABLE "code_mails" ADD COLUMN     "code_id" UUID,
ADD COLUMN     "provisional" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "inboxes" ADD COLUMN     "inherited" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "take_overs" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "taken_over_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "verification_codes" ADD COLUMN     "credential_id" UUID;

-- CreateIndex
CREATE INDEX "code_mails_code_id_idx" ON "code_mails"("code_id");

-- CreateIndex
CREATE UNIQUE INDEX "verification_codes_credential_id_key" ON "verification_codes"("credential_id");

-- CreateIndex
CREATE INDEX "verification_codes_organization_id_idx" ON "verification_codes"("organization_id");

-- AddForeignKey
ALTER TABLE "verification_codes" ADD CONSTRAINT "verification_codes_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Partial unique index: one code of an organization's own, besides those of its provisional keys.
CREATE UNIQUE INDEX "verification_codes_organization_key" ON "verification_codes"("organization_id") WHERE "credential_id" IS NULL;
