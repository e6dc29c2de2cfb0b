-- AlterTable
ALTER TABLE "inbound" ADD COLUMN     "slow" BOOLEAN NOT NULL DEFAULT false;
