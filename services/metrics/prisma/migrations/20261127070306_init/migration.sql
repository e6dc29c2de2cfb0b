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
    "before" BIGINT NOT NULL DEFAULT 0,
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
    "before" BIGINT NOT NULL,

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
-- What an operator's tools read of an organization, such as the dashboard of Grafana: the numbers that the API answers with.
-- They run with the rights of their owner, so a role needs nothing but the right to execute them. Times and steps are those
-- of identity 9: a period begins at its time, usage is what is stored at that time, a rate is of the window before it.

-- The number of a series, as in src/series/series.ts.
CREATE FUNCTION metrics_code(series TEXT) RETURNS SMALLINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT code::smallint FROM (VALUES
    ('message.received', 1), ('message.received.spam', 2), ('message.received.blocked', 3),
    ('message.received.unauthenticated', 4), ('message.sent', 5), ('message.delivered', 6), ('message.bounced', 7),
    ('message.complained', 8), ('message.rejected', 9), ('domain.verified', 10),
    ('storage_bytes', 21), ('message_count', 22), ('thread_count', 23), ('inbox_count', 24), ('domain_count', 25),
    ('pod_count', 26), ('recipients.sent', 41), ('recipients.bounced', 42), ('recipients.complained', 43)
  ) AS known (name, code) WHERE name = series
$$;

-- Sums of the points of an organization by period, from a time in milliseconds on; periods without points are left out.
-- A row that lies in one period is not opened. Of a day whose runs are dropped the total is left, as a point at its end.
CREATE FUNCTION metrics_sums(organization UUID, code SMALLINT, since BIGINT, until BIGINT, period BIGINT)
RETURNS TABLE ("index" BIGINT, total BIGINT) LANGUAGE sql STABLE AS $$
  WITH stored AS (
    SELECT day * 86400000::bigint AS base, first_ms, last_ms, times, sums FROM runs
     WHERE scope_id = organization AND tier = 1 AND series = code
       AND day BETWEEN since / 86400000 AND (until - 1) / 86400000
    UNION ALL
    SELECT day * 86400000::bigint, first_ms, last_ms, times, sums FROM arrivals
     WHERE scope_id = organization AND tier = 1 AND series = code
       AND day BETWEEN since / 86400000 AND (until - 1) / 86400000),
  placed AS (
    SELECT *, (base + first_ms - since) / period AS first_index,
           base + first_ms >= since AND base + last_ms < until
             AND (base + first_ms - since) / period = (base + last_ms - since) / period AS whole
      FROM stored WHERE base + first_ms < until AND base + last_ms >= since),
  found AS (
    SELECT first_index AS place, coalesce(sums[cardinality(sums)], cardinality(times)) AS value FROM placed WHERE whole
    UNION ALL
    SELECT (base + ms - since) / period, CASE WHEN sums = '{}' THEN 1 ELSE sums[n] - coalesce(sums[n - 1], 0) END
      FROM placed CROSS JOIN LATERAL unnest(times) WITH ORDINALITY AS point (ms, n)
     WHERE NOT whole AND base + ms >= since AND base + ms < until
    UNION ALL
    SELECT ((day + 1) * 86400000::bigint - 1 - since) / period, t.total FROM totals AS t
     WHERE scope_id = organization AND tier = 1 AND series = code
       AND (day + 1) * 86400000::bigint BETWEEN since + 1 AND until
       AND NOT EXISTS (SELECT FROM runs AS r
                        WHERE (r.scope_id, r.tier, r.series, r.day) = (t.scope_id, t.tier, t.series, t.day)))
  SELECT place, sum(value)::bigint FROM found GROUP BY place HAVING sum(value) <> 0
$$;

-- Milliseconds since 1970 of a time, and of an interval.
CREATE FUNCTION metrics_ms(at TIMESTAMPTZ) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT floor(extract(epoch FROM at) * 1000)::bigint
$$;
CREATE FUNCTION metrics_ms(step INTERVAL) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(floor(extract(epoch FROM step) * 1000)::bigint, 1)
$$;
CREATE FUNCTION metrics_time(ms BIGINT) RETURNS TIMESTAMPTZ LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_timestamp(0) + ms * interval '1 millisecond'
$$;

-- Events of a type by period, zeros included.
CREATE FUNCTION metrics_events(organization UUID, series TEXT, since TIMESTAMPTZ, until TIMESTAMPTZ, step INTERVAL)
RETURNS TABLE ("time" TIMESTAMPTZ, count BIGINT) LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT metrics_time(metrics_ms(since) + place * metrics_ms(step)), coalesce(s.total, 0)
    FROM generate_series(0, (metrics_ms(until) - metrics_ms(since) - 1) / metrics_ms(step)) AS place
    LEFT JOIN metrics_sums(organization, metrics_code(series), metrics_ms(since), metrics_ms(until), metrics_ms(step)) AS s
           ON s.index = place
   ORDER BY place
$$;

-- A running total at the beginning of each period, what happened at that very millisecond included.
CREATE FUNCTION metrics_usage(organization UUID, series TEXT, since TIMESTAMPTZ, until TIMESTAMPTZ, step INTERVAL)
RETURNS TABLE ("time" TIMESTAMPTZ, value BIGINT) LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH bounds AS (
    SELECT metrics_ms(since) + 1 AS first, metrics_ms(step) AS period,
           (metrics_ms(until) - metrics_ms(since) - 1) / metrics_ms(step) AS last_index),
  before AS (
    SELECT coalesce(sum(s.total), 0) AS total FROM bounds, metrics_sums(organization, metrics_code(series), 0, first, first) AS s),
  grown AS (
    SELECT s.* FROM bounds,
           metrics_sums(organization, metrics_code(series), first, first + greatest(last_index, 1) * period, period) AS s)
  SELECT metrics_time(first - 1 + place * period),
         (before.total + coalesce(sum(g.total) OVER (ORDER BY place), 0))::bigint
    FROM bounds CROSS JOIN before CROSS JOIN generate_series(0, last_index) AS place
    LEFT JOIN grown AS g ON g.index = place - 1
   ORDER BY place
$$;

-- Shares of sent mail that bounced (`bounce`) or was complained about (`complaint`), by the definition by which mail-send judges:
-- of the recipients that were sent to, or that bounced if these are more. Null where there are none.
CREATE FUNCTION metrics_rates(
  organization UUID, rate TEXT, since TIMESTAMPTZ, until TIMESTAMPTZ, step INTERVAL, width INTERVAL DEFAULT '1 day')
RETURNS TABLE ("time" TIMESTAMPTZ, value DOUBLE PRECISION, sent BIGINT)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path FROM CURRENT AS $$
  WITH bounds AS (
    SELECT period, windows, metrics_ms(since) - windows * period AS first,
           (metrics_ms(until) - metrics_ms(since) - 1) / period AS last_index
      FROM (SELECT metrics_ms(step) AS period,
                   (metrics_ms(width) + metrics_ms(step) - 1) / metrics_ms(step) AS windows) AS given),
  counted AS (
    SELECT place,
           sum(s.total) FILTER (WHERE s.name = 'sent') AS sent,
           sum(s.total) FILTER (WHERE s.name = 'bounced') AS bounced,
           sum(s.total) FILTER (WHERE s.name = 'complained') AS complained
      FROM bounds CROSS JOIN generate_series(0, windows + last_index) AS place
      LEFT JOIN (SELECT name, f.* FROM bounds CROSS JOIN unnest(ARRAY['sent', 'bounced', 'complained']) AS name
                   CROSS JOIN LATERAL metrics_sums(organization, metrics_code('recipients.' || name), first,
                                                   first + (windows + last_index) * period, period) AS f) AS s
             ON s.index = place
     GROUP BY place),
  -- The window of a point are the periods before it: running sums up to it without those before its beginning.
  running AS (
    SELECT place,
           coalesce(sum(sent) OVER upto, 0) AS sent, coalesce(sum(bounced) OVER upto, 0) AS bounced,
           coalesce(sum(complained) OVER upto, 0) AS complained
      FROM counted WINDOW upto AS (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
  windowed AS (
    SELECT b.place - windows AS place, b.sent - a.sent AS sent, b.bounced - a.bounced AS bounced,
           b.complained - a.complained AS complained
      FROM bounds CROSS JOIN running AS b JOIN running AS a ON a.place = b.place - windows)
  SELECT metrics_time(metrics_ms(since) + place * period),
         CASE rate WHEN 'bounce' THEN bounced WHEN 'complaint' THEN complained END::float8
           / nullif(greatest(sent, bounced), 0),
         greatest(sent, bounced)::bigint
    FROM windowed CROSS JOIN bounds ORDER BY place
$$;

REVOKE EXECUTE ON FUNCTION metrics_events, metrics_usage, metrics_rates FROM PUBLIC;
