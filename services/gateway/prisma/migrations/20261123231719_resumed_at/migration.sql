-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "resumed_at" TIMESTAMPTZ(3);
