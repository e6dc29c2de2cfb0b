-- AlterTable
ALTER TABLE "idempotency_keys" ADD COLUMN     "take_overs" INTEGER NOT NULL DEFAULT 0;
