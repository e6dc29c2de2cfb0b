-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "sending_checks" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "query_pace" (
    "id" INTEGER NOT NULL,
    "free_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "query_pace_pkey" PRIMARY KEY ("id")
);
