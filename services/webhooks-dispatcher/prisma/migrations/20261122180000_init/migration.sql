CREATE TABLE "webhooks" (
    "id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "inbox_id" TEXT,
    "url" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "headers" BYTEA,
    "event_types" TEXT[] NOT NULL,
    "pod_ids" UUID[] NOT NULL,
    "inbox_uids" UUID[] NOT NULL,
    "inbox_ids" TEXT[] NOT NULL,
    "visible_labels" TEXT[] NOT NULL,
    "client_id" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "active_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failing_since" TIMESTAMPTZ(3),
    "clock_started_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_by" UUID,
    "take_overs" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "payloads" (
    "event_id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payloads_pkey" PRIMARY KEY ("event_id")
);

CREATE TABLE "deliveries" (
    "id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "take_overs" (
    "organization_id" UUID NOT NULL,
    "take_overs" INTEGER NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "take_overs_pkey" PRIMARY KEY ("organization_id")
);

CREATE INDEX "webhooks_organization_id_created_at_id_idx" ON "webhooks"("organization_id", "created_at", "id");
CREATE UNIQUE INDEX "webhooks_organization_id_client_id_key" ON "webhooks"("organization_id", "client_id");
CREATE INDEX "take_overs_heard_at_idx" ON "take_overs"("heard_at");
CREATE INDEX "deliveries_event_id_idx" ON "deliveries"("event_id");
CREATE UNIQUE INDEX "deliveries_webhook_id_event_id_key" ON "deliveries"("webhook_id", "event_id");

ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "payloads"("event_id") ON DELETE RESTRICT ON UPDATE CASCADE;
