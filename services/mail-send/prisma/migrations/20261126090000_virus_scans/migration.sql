-- AlterTable
ALTER TABLE "sends" ADD COLUMN     "scan_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "scan_leased_until" TIMESTAMPTZ(3),
ADD COLUMN     "virus_verdict" TEXT;
