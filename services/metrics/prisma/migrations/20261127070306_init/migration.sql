CREATE TABLE "entities" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID,
    "created_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "purged" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "entities_pkey" PRIMARY KEY ("id", "kind")
);
CREATE INDEX "entities_organization_id_idx" ON "entities"("organization_id");

CREATE TABLE "arrivals" (
    "id" BIGSERIAL NOT NULL,
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "first_ms" INTEGER NOT NULL,
    "last_ms" INTEGER NOT NULL,
    "times" INTEGER[],
    "sums" BIGINT[],

    CONSTRAINT "arrivals_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "arrivals_scope_id_tier_series_day_idx" ON "arrivals"("scope_id", "tier", "series", "day");

CREATE TABLE "rebuilt" (
    "id" BIGSERIAL NOT NULL,
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "first_ms" INTEGER NOT NULL,
    "last_ms" INTEGER NOT NULL,
    "times" INTEGER[],
    "sums" BIGINT[],

    CONSTRAINT "rebuilt_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "rebuilt_scope_id_tier_series_day_idx" ON "rebuilt"("scope_id", "tier", "series", "day");

-- Each partition is created when its first run is settled, and dropped whole.
CREATE TABLE "runs" (
    "id" BIGSERIAL NOT NULL,
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "first_ms" INTEGER NOT NULL,
    "last_ms" INTEGER NOT NULL,
    "times" INTEGER[],
    "sums" BIGINT[],

    CONSTRAINT "runs_pkey" PRIMARY KEY ("scope_id", "tier", "series", "day", "first_ms", "id")
) PARTITION BY RANGE ("day");
-- A row is as long as a page, and read by its ends and by binary search: it is neither compressed nor stored out of line.
ALTER TABLE "runs" ALTER COLUMN "times" SET STORAGE PLAIN, ALTER COLUMN "sums" SET STORAGE PLAIN;

CREATE TABLE "totals" (
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "totals_pkey" PRIMARY KEY ("scope_id", "tier", "series", "day")
);
