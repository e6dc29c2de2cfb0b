-- Filters by label and substring need these extensions. Both are trusted: the owner of the database may create them.
CREATE EXTENSION IF NOT EXISTS "btree_gin";
CREATE EXTENSION IF NOT EXISTS "pg_trgm";

CREATE TABLE "raw_mails" (
    "blob" TEXT NOT NULL,
    "refs" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "raw_mails_pkey" PRIMARY KEY ("blob")
);

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
    "waited" JSONB,
    "slow" BOOLEAN NOT NULL DEFAULT false,
    "slow_since" TIMESTAMPTZ(3),

    CONSTRAINT "inbound_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "receiving_organizations" (
    "organization_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "receiving_organizations_pkey" PRIMARY KEY ("organization_id")
);

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
    "labels" TEXT[] NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "sender" TEXT NOT NULL,
    "sender_address" TEXT NOT NULL,
    "to" TEXT[] NOT NULL,
    "cc" TEXT[] NOT NULL,
    "bcc" TEXT[] NOT NULL,
    "reply_to" TEXT[] NOT NULL,
    "recipients" TEXT NOT NULL,
    "subject" TEXT,
    "preview" TEXT,
    "in_reply_to" TEXT,
    "references" TEXT[] NOT NULL,
    "attachments" JSONB NOT NULL,
    "size" INTEGER NOT NULL,
    "blob" TEXT NOT NULL,
    "trace" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "handed_over_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "delayed_at" TIMESTAMPTZ(3),
    "arrival_labels" TEXT[],
    "authentication" JSONB,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "message_bodies" (
    "id" UUID NOT NULL,
    "text" TEXT,
    "html" TEXT,
    "extracted_text" TEXT,
    "extracted_html" TEXT,
    "headers" JSONB NOT NULL,

    CONSTRAINT "message_bodies_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "threads" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "labels" TEXT[] NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "received_timestamp" TIMESTAMPTZ(3),
    "sent_timestamp" TIMESTAMPTZ(3),
    "senders" TEXT[] NOT NULL,
    "recipients" TEXT[] NOT NULL,
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

CREATE TABLE "tombstones" (
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tombstones_pkey" PRIMARY KEY ("inbox_uid","message_id")
);

CREATE TABLE "pending_delivery_events" (
    "event_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "payload" JSONB NOT NULL,

    CONSTRAINT "pending_delivery_events_pkey" PRIMARY KEY ("event_id")
);

CREATE TABLE "waiting_mails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "blob" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "envelope" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "times" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "domain" TEXT NOT NULL,
    "questions" JSONB NOT NULL,
    "verdict" JSONB NOT NULL,

    CONSTRAINT "waiting_mails_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "failing_domains" (
    "domain" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "failing_domains_pkey" PRIMARY KEY ("domain")
);

CREATE TABLE "remembered_ids" (
    "inbox_uid" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "thread_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "remembered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "remembered_ids_pkey" PRIMARY KEY ("inbox_uid","id","thread_id","domain")
);

CREATE TABLE "label_removals" (
    "organization_id" UUID NOT NULL,
    "made_before" TIMESTAMPTZ(3) NOT NULL,
    "after_inbox" UUID,
    "after_timestamp" TIMESTAMPTZ(3),
    "after_id" UUID,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "label_removals_pkey" PRIMARY KEY ("organization_id")
);

CREATE INDEX "inbound_lane_position_idx" ON "inbound"("lane", "position");

CREATE INDEX "messages_inbox_uid_header_id_id_idx" ON "messages"("inbox_uid", "header_id", "id");
CREATE INDEX "messages_inbox_uid_digest_idx" ON "messages"("inbox_uid", "digest");

CREATE INDEX "messages_inbox_uid_timestamp_id_idx" ON "messages"("inbox_uid", "timestamp", "id");

CREATE INDEX "messages_thread_id_timestamp_id_idx" ON "messages"("thread_id", "timestamp", "id");

CREATE INDEX "messages_filters" ON "messages" USING GIN ("inbox_uid" uuid_ops, "labels", "sender" gin_trgm_ops, "recipients" gin_trgm_ops, "subject" gin_trgm_ops);

CREATE UNIQUE INDEX "messages_inbox_uid_message_id_key" ON "messages"("inbox_uid", "message_id");

CREATE INDEX "threads_inbox_uid_timestamp_id_idx" ON "threads"("inbox_uid", "timestamp", "id");

CREATE INDEX "threads_pod_id_timestamp_id_idx" ON "threads"("pod_id", "timestamp", "id");

CREATE INDEX "threads_organization_id_timestamp_id_idx" ON "threads"("organization_id", "timestamp", "id");

CREATE INDEX "threads_filters" ON "threads" USING GIN ("organization_id" uuid_ops, "labels", "sender_lines" gin_trgm_ops, "recipient_lines" gin_trgm_ops, "subject" gin_trgm_ops);

CREATE INDEX "label_log_inbox_uid_id_idx" ON "label_log"("inbox_uid", "id");

CREATE INDEX "tombstones_deleted_at_idx" ON "tombstones"("deleted_at");

CREATE INDEX "pending_delivery_events_inbox_uid_message_id_idx" ON "pending_delivery_events"("inbox_uid", "message_id");

CREATE INDEX "pending_delivery_events_time_idx" ON "pending_delivery_events"("time");

CREATE INDEX "waiting_mails_due_at_idx" ON "waiting_mails"("due_at");
CREATE INDEX "waiting_mails_inbox_uid_idx" ON "waiting_mails"("inbox_uid");
CREATE INDEX "failing_domains_seen_at_idx" ON "failing_domains"("seen_at");
CREATE INDEX "remembered_ids_thread_id_position_idx" ON "remembered_ids"("thread_id", "position");
CREATE INDEX "remembered_ids_remembered_at_idx" ON "remembered_ids"("remembered_at");

ALTER TABLE "remembered_ids" ADD CONSTRAINT "remembered_ids_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "message_bodies" ADD CONSTRAINT "message_bodies_id_fkey" FOREIGN KEY ("id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Below: what schema.prisma cannot express.

-- Raw mail without references.
CREATE INDEX "raw_mails_unused" ON "raw_mails" ("updated_at") WHERE "refs" = 0;

-- The default view of lists: no message with a restricted label (mail 4.4).
CREATE INDEX "messages_default_view" ON "messages" ("inbox_uid", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);
CREATE INDEX "threads_default_view" ON "threads" ("inbox_uid", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);

-- Queues in which a mail is being processed.
CREATE INDEX "inbound_leased" ON "inbound" ("lane") WHERE "leased_until" IS NOT NULL;

-- Mail is written once and read a few times: lz4 takes a fifth of the time of pglz, PostgreSQL's default.
-- Not every build of PostgreSQL has it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE "message_bodies"
      ALTER COLUMN "text" SET COMPRESSION lz4,
      ALTER COLUMN "html" SET COMPRESSION lz4,
      ALTER COLUMN "extracted_text" SET COMPRESSION lz4,
      ALTER COLUMN "extracted_html" SET COMPRESSION lz4,
      ALTER COLUMN "headers" SET COMPRESSION lz4;
  END IF;
END $$;
