-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "delayed_at" TIMESTAMPTZ(3);
