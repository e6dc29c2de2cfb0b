-- Events, committed together with the state change that they report. The relay publishes them to Kafka.
CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "headers" JSONB NOT NULL,
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(3),
    -- Why Kafka rejects the event permanently. Null: the event is published, or will be.
    "refused" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);
CREATE INDEX "outbox_published_at_idx" ON "outbox"("published_at");
-- The queue of the relay: events that are not published yet.
CREATE INDEX "outbox_unpublished" ON "outbox"("position") WHERE "published_at" IS NULL AND "refused" IS NULL;

-- Payloads are written once and read once: lz4 takes a fifth of the time of pglz, PostgreSQL's default. Not every build of
-- PostgreSQL has it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE "outbox" ALTER COLUMN "payload" SET COMPRESSION lz4;
  END IF;
END $$;

-- Marks of events whose effect is committed: one row per consumer and event, kept for 21 days.
CREATE TABLE "consumed" (
    "consumer" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "consumed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consumed_pkey" PRIMARY KEY ("consumer", "event_id")
);
CREATE INDEX "consumed_consumed_at_idx" ON "consumed"("consumed_at");
