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
    "settled" BOOLEAN NOT NULL DEFAULT false,

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

CREATE TABLE "totals" (
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "totals_pkey" PRIMARY KEY ("scope_id", "tier", "series", "day")
);

CREATE TABLE "adjustments" (
    "id" BIGSERIAL NOT NULL,
    "scope_id" UUID NOT NULL,
    "tier" SMALLINT NOT NULL,
    "series" SMALLINT NOT NULL,
    "day" INTEGER NOT NULL,
    "first_ms" INTEGER NOT NULL,
    "last_ms" INTEGER NOT NULL,
    "times" INTEGER[],
    "sums" BIGINT[],

    CONSTRAINT "adjustments_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "adjustments_scope_id_tier_idx" ON "adjustments"("scope_id", "tier");
CREATE INDEX "adjustments_day_idx" ON "adjustments"("day");

CREATE TABLE "rebuilds" (
    "id" SERIAL NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'reading',
    "operator" TEXT NOT NULL,
    "cut_day" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "reason" TEXT,
    "marked" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "rebuilds_pkey" PRIMARY KEY ("id")
);
-- One at a time.
CREATE UNIQUE INDEX "rebuilds_running" ON "rebuilds"("state") WHERE "state" = 'reading';

CREATE TABLE "rebuild_partitions" (
    "rebuild_id" INTEGER NOT NULL,
    "topic" TEXT NOT NULL,
    "partition" INTEGER NOT NULL,
    "first" BIGINT NOT NULL,
    "next" BIGINT NOT NULL,
    "until" BIGINT NOT NULL,

    CONSTRAINT "rebuild_partitions_pkey" PRIMARY KEY ("rebuild_id", "topic", "partition")
);

CREATE TABLE "comparisons" (
    "id" SERIAL NOT NULL,
    "operator" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "comparisons_pkey" PRIMARY KEY ("id")
);
-- One at a time.
CREATE UNIQUE INDEX "comparisons_running" ON "comparisons"(("ended_at" IS NULL)) WHERE "ended_at" IS NULL;

CREATE TABLE "leases" (
    "name" TEXT NOT NULL,
    "holder" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("name")
);
