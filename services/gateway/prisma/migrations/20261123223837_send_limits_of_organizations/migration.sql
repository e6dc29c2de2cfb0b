-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "send_limits" JSONB NOT NULL DEFAULT '{}';
