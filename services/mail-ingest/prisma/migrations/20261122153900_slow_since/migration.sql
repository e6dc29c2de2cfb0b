-- AlterTable
ALTER TABLE "inbound" ADD COLUMN     "slow_since" TIMESTAMPTZ(3);
