CREATE TABLE "sends" (
    "id" UUID NOT NULL,
    "organization_id" UUID,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "message_id" TEXT NOT NULL,
    "thread_id" UUID,
    "size" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "copy" JSONB,
    "accepted_at" TIMESTAMPTZ(3) NOT NULL,
    "handed_over_at" TIMESTAMPTZ(3),
    "rejected_at" TIMESTAMPTZ(3),
    "dropped_at" TIMESTAMPTZ(3),

    CONSTRAINT "sends_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "deliveries" (
    "id" UUID NOT NULL,
    "send_id" UUID NOT NULL,
    "recipient" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "status" TEXT,
    "diagnostic" TEXT,
    "reporting_mta" TEXT,
    "delayed_at" TIMESTAMPTZ(3),
    "complained_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_by" TEXT,
    "inside" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "suppressions" (
    "organization_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "suppressions_pkey" PRIMARY KEY ("organization_id","address")
);

CREATE TABLE "idempotency_keys" (
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "lease_id" UUID NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "response" JSONB,
    "take_overs" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("organization_id","key")
);

CREATE TABLE "daily_counts" (
    "organization_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "recipients" INTEGER NOT NULL,

    CONSTRAINT "daily_counts_pkey" PRIMARY KEY ("organization_id","day")
);

CREATE TABLE "pending_blobs" (
    "send_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pending_blobs_pkey" PRIMARY KEY ("send_id")
);

CREATE INDEX "sends_organization_id_idx" ON "sends"("organization_id");
CREATE INDEX "sends_thread_id_idx" ON "sends"("thread_id");
CREATE INDEX "sends_accepted_at_idx" ON "sends"("accepted_at");

CREATE UNIQUE INDEX "sends_inbox_uid_message_id_key" ON "sends"("inbox_uid", "message_id");

CREATE INDEX "deliveries_send_id_destination_idx" ON "deliveries"("send_id", "destination");

CREATE INDEX "idempotency_keys_leased_until_idx" ON "idempotency_keys"("leased_until");

CREATE INDEX "idempotency_keys_inbox_uid_idx" ON "idempotency_keys"("inbox_uid");

CREATE INDEX "pending_blobs_created_at_idx" ON "pending_blobs"("created_at");

ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_send_id_fkey" FOREIGN KEY ("send_id") REFERENCES "sends"("id") ON DELETE CASCADE ON UPDATE CASCADE;
