-- CreateTable
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

-- CreateTable
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

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "suppressions" (
    "organization_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "suppressions_pkey" PRIMARY KEY ("organization_id","address")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "lease_id" UUID NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "response" JSONB,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("organization_id","key")
);

-- CreateTable
CREATE TABLE "daily_counts" (
    "organization_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "recipients" INTEGER NOT NULL,

    CONSTRAINT "daily_counts_pkey" PRIMARY KEY ("organization_id","day")
);

-- CreateTable
CREATE TABLE "pending_blobs" (
    "send_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pending_blobs_pkey" PRIMARY KEY ("send_id")
);

-- CreateTable
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
    "refused" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "consumed" (
    "consumer" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "consumed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consumed_pkey" PRIMARY KEY ("consumer","event_id")
);

-- CreateTable
CREATE TABLE "timers" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "lease_id" UUID,
    "leased_until" TIMESTAMPTZ(3),
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "timers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "sends_accepted_at_idx" ON "sends"("accepted_at");

-- CreateIndex
CREATE UNIQUE INDEX "sends_inbox_uid_message_id_key" ON "sends"("inbox_uid", "message_id");

-- CreateIndex
CREATE INDEX "deliveries_send_id_destination_idx" ON "deliveries"("send_id", "destination");

-- CreateIndex
CREATE INDEX "idempotency_keys_leased_until_idx" ON "idempotency_keys"("leased_until");

-- CreateIndex
CREATE INDEX "idempotency_keys_inbox_uid_idx" ON "idempotency_keys"("inbox_uid");

-- CreateIndex
CREATE INDEX "pending_blobs_created_at_idx" ON "pending_blobs"("created_at");

-- CreateIndex
CREATE INDEX "outbox_published_at_idx" ON "outbox"("published_at");

-- CreateIndex
CREATE INDEX "consumed_consumed_at_idx" ON "consumed"("consumed_at");

-- CreateIndex
CREATE INDEX "timers_kind_due_at_idx" ON "timers"("kind", "due_at");

-- CreateIndex
CREATE UNIQUE INDEX "timers_kind_key_key" ON "timers"("kind", "key");

-- AddForeignKey
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_send_id_fkey" FOREIGN KEY ("send_id") REFERENCES "sends"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The relay's queue; partial, which schema.prisma cannot say.
CREATE INDEX "outbox_unpublished" ON "outbox" ("position") WHERE "published_at" IS NULL AND "refused" IS NULL;
