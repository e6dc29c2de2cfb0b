-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "accepted_by" TEXT,
ADD COLUMN     "inside" BOOLEAN NOT NULL DEFAULT false;
