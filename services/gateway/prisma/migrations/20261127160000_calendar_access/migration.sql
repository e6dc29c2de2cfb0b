-- AlterTable
ALTER TABLE "organizations" ADD COLUMN     "calendar_access" BOOLEAN NOT NULL DEFAULT true;
