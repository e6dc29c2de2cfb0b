CREATE TABLE "stream_log" (
    "position" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "type" TEXT,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "credential_id" UUID,
    "restricted" TEXT[],
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "stream_log_pkey" PRIMARY KEY ("position")
);

CREATE UNIQUE INDEX "stream_log_event_id_kind_key" ON "stream_log"("event_id", "kind");

CREATE INDEX "stream_log_created_at_idx" ON "stream_log"("created_at");

CREATE TABLE "consumed" (
    "consumer" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "consumed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consumed_pkey" PRIMARY KEY ("consumer", "event_id")
);

CREATE INDEX "consumed_consumed_at_idx" ON "consumed"("consumed_at");
