-- CreateTable
CREATE TABLE "send_counts" (
    "tier" TEXT NOT NULL,
    "scope_id" UUID NOT NULL,
    "window_seconds" INTEGER NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "organization_id" UUID NOT NULL,
    "recipients" INTEGER NOT NULL,

    CONSTRAINT "send_counts_pkey" PRIMARY KEY ("tier","scope_id","window_seconds","starts_at")
);

-- CreateIndex
CREATE INDEX "send_counts_organization_id_idx" ON "send_counts"("organization_id");

-- Counts of days, which begin at midnight UTC as windows of a day do.
LOCK TABLE "daily_counts" IN ACCESS EXCLUSIVE MODE;
INSERT INTO "send_counts" ("tier", "scope_id", "window_seconds", "starts_at", "organization_id", "recipients")
SELECT 'organization', "organization_id", 86400, "day"::timestamp AT TIME ZONE 'UTC', "organization_id", "recipients"
  FROM "daily_counts";

-- DropTable
DROP TABLE "daily_counts";
