CREATE TABLE "stream_log" (
    "position" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "type" TEXT,
    -- Null for entries about a gateway that shuts down: they concern streams of many organizations.
    "organization_id" UUID,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "credential_id" UUID,
    "restricted" TEXT[] NOT NULL,
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "stream_log_pkey" PRIMARY KEY ("position")
);

CREATE UNIQUE INDEX "stream_log_event_id_kind_key" ON "stream_log"("event_id", "kind");

CREATE INDEX "stream_log_created_at_idx" ON "stream_log"("created_at");
