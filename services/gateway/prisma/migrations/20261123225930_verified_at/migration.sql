-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "verified_at" TIMESTAMPTZ(3);
