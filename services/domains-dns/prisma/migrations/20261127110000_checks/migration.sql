-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "requested_at" TIMESTAMPTZ(3),
ADD COLUMN     "sending_checks" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "wanted_checks" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "query_pace" (
    "id" INTEGER NOT NULL,
    "free_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "query_pace_pkey" PRIMARY KEY ("id")
);
