-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "credential_limit" INTEGER,
ADD COLUMN     "deleting_at" TIMESTAMPTZ(3);
