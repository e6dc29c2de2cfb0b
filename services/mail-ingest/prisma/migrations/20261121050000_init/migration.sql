-- Filters by label and substring need these; both are trusted: the owner of the database may create them.
CREATE EXTENSION IF NOT EXISTS "btree_gin";
CREATE EXTENSION IF NOT EXISTS "pg_trgm";

-- CreateTable
CREATE TABLE "deleted_inboxes" (
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "purged_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_inboxes_pkey" PRIMARY KEY ("inbox_uid")
);

-- CreateTable
CREATE TABLE "raw_mails" (
    "blob" TEXT NOT NULL,
    "refs" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "raw_mails_pkey" PRIMARY KEY ("blob")
);

-- CreateTable
CREATE TABLE "inbound" (
    "id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "lane" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "organization_id" UUID,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "inbox_address" TEXT,
    "recipient" TEXT NOT NULL,
    "blob" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "envelope" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_id" UUID,
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "inbound_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "receiving_organizations" (
    "organization_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receiving_organizations_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "thread_id" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "header_id" TEXT NOT NULL,
    "direction" TEXT NOT NULL,
    "labels" TEXT[],
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "sender" TEXT NOT NULL,
    "sender_address" TEXT NOT NULL,
    "to" TEXT[],
    "cc" TEXT[],
    "bcc" TEXT[],
    "reply_to" TEXT[],
    "recipients" TEXT NOT NULL,
    "subject" TEXT,
    "preview" TEXT,
    "in_reply_to" TEXT,
    "references" TEXT[],
    "attachments" JSONB NOT NULL,
    "size" INTEGER NOT NULL,
    "blob" TEXT NOT NULL,
    "trace" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "handed_over_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "message_bodies" (
    "id" UUID NOT NULL,
    "text" TEXT,
    "html" TEXT,
    "extracted_text" TEXT,
    "extracted_html" TEXT,
    "headers" JSONB NOT NULL,

    CONSTRAINT "message_bodies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "threads" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "labels" TEXT[],
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "received_timestamp" TIMESTAMPTZ(3),
    "sent_timestamp" TIMESTAMPTZ(3),
    "senders" TEXT[],
    "recipients" TEXT[],
    "sender_lines" TEXT NOT NULL,
    "recipient_lines" TEXT NOT NULL,
    "subject" TEXT,
    "preview" TEXT,
    "attachments" JSONB NOT NULL,
    "last_message_id" TEXT NOT NULL,
    "message_count" INTEGER NOT NULL,
    "size" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "threads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "label_log" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "event_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "label_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tombstones" (
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("inbox_uid","message_id")
);

-- CreateTable
CREATE TABLE "pending_facts" (
    "event_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "payload" JSONB NOT NULL,

    CONSTRAINT "pending_facts_pkey" PRIMARY KEY ("event_id")
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

-- CreateIndex
CREATE INDEX "inbound_lane_position_idx" ON "inbound"("lane", "position");

-- CreateIndex
CREATE INDEX "messages_inbox_uid_header_id_idx" ON "messages"("inbox_uid", "header_id");

-- CreateIndex
CREATE INDEX "messages_inbox_uid_timestamp_id_idx" ON "messages"("inbox_uid", "timestamp", "id");

-- CreateIndex
CREATE INDEX "messages_thread_id_timestamp_id_idx" ON "messages"("thread_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "messages_filters" ON "messages" USING GIN ("inbox_uid" uuid_ops, "labels", "sender" gin_trgm_ops, "recipients" gin_trgm_ops, "subject" gin_trgm_ops);

-- CreateIndex
CREATE UNIQUE INDEX "messages_inbox_uid_message_id_key" ON "messages"("inbox_uid", "message_id");

-- CreateIndex
CREATE INDEX "threads_inbox_uid_timestamp_id_idx" ON "threads"("inbox_uid", "timestamp", "id");

-- CreateIndex
CREATE INDEX "threads_pod_id_timestamp_id_idx" ON "threads"("pod_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "threads_organization_id_timestamp_id_idx" ON "threads"("organization_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "threads_filters" ON "threads" USING GIN ("organization_id" uuid_ops, "labels", "sender_lines" gin_trgm_ops, "recipient_lines" gin_trgm_ops, "subject" gin_trgm_ops);

-- CreateIndex
CREATE INDEX "label_log_inbox_uid_id_idx" ON "label_log"("inbox_uid", "id");

-- CreateIndex
CREATE INDEX "tombstones_deleted_at_idx" ON "tombstones"("deleted_at");

-- CreateIndex
CREATE INDEX "pending_facts_inbox_uid_message_id_idx" ON "pending_facts"("inbox_uid", "message_id");

-- CreateIndex
CREATE INDEX "pending_facts_time_idx" ON "pending_facts"("time");

-- CreateIndex
CREATE INDEX "outbox_published_at_idx" ON "outbox"("published_at");

-- CreateIndex
CREATE INDEX "consumed_consumed_at_idx" ON "consumed"("consumed_at");

-- AddForeignKey
ALTER TABLE "message_bodies" ADD CONSTRAINT "message_bodies_id_fkey" FOREIGN KEY ("id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

-- The relay's queue.
CREATE INDEX "outbox_unpublished" ON "outbox" ("position") WHERE "published_at" IS NULL AND "refused" IS NULL;

-- Raw mail that nothing refers to (any more).
CREATE INDEX "raw_mails_unused" ON "raw_mails" ("updated_at") WHERE "refs" = 0;

-- Deleted inboxes that are still being purged.
CREATE INDEX "deleted_inboxes_to_purge" ON "deleted_inboxes" ("deleted_at") WHERE "purged_at" IS NULL;

-- The default view of lists: nothing with a restricted label (mail 4.4).
CREATE INDEX "messages_default_view" ON "messages" ("inbox_uid", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);
CREATE INDEX "threads_default_view" ON "threads" ("inbox_uid", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);

-- Lanes in which a mail is being processed.
CREATE INDEX "inbound_leased" ON "inbound" ("lane") WHERE "leased_until" IS NOT NULL;
