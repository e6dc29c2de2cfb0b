-- CreateTable
CREATE TABLE "calendars" (
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "revision" INTEGER NOT NULL DEFAULT 0,
    "event_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "calendars_pkey" PRIMARY KEY ("inbox_uid")
);

-- CreateTable
CREATE TABLE "events" (
    "id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT,
    "location" TEXT,
    "metadata" JSONB,
    "status" TEXT NOT NULL,
    "all_day" BOOLEAN NOT NULL,
    "start" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "duration_mode" TEXT NOT NULL,
    "duration_value" BIGINT NOT NULL,
    "start_at" TIMESTAMPTZ(0) NOT NULL,
    "end_at" TIMESTAMPTZ(0) NOT NULL,
    "last_end_at" TIMESTAMPTZ(0),
    "rule" TEXT,
    "last_slot" TEXT,
    "exdates" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "rdates" JSONB NOT NULL DEFAULT '[]',
    "truncate_before" TEXT,
    "truncated_at" TIMESTAMPTZ(3),
    "history_before" TEXT,
    "attendees" JSONB NOT NULL DEFAULT '[]',
    "uid" TEXT NOT NULL,
    "recurrence_id" TEXT NOT NULL DEFAULT '',
    "sequence" INTEGER NOT NULL DEFAULT 0,
    "time_sequence" INTEGER NOT NULL DEFAULT 0,
    "source" TEXT NOT NULL,
    "organizer_email" TEXT,
    "origin_message_id" TEXT,
    "stamped_at" TIMESTAMPTZ(0),
    "revision" INTEGER NOT NULL DEFAULT 0,
    "edits_revision" INTEGER NOT NULL DEFAULT 0,
    "seen_until" TIMESTAMPTZ(3) NOT NULL,
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "edits" (
    "event_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "fields" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 0,
    "sequence" INTEGER NOT NULL DEFAULT 0,
    "stamped_at" TIMESTAMPTZ(0),
    "start_at" TIMESTAMPTZ(0),
    "end_at" TIMESTAMPTZ(0),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "edits_pkey" PRIMARY KEY ("event_id","slot")
);

-- CreateTable
CREATE TABLE "begun_dates" (
    "event_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "all_day" BOOLEAN NOT NULL,
    "start" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "duration_mode" TEXT NOT NULL,
    "duration_value" BIGINT NOT NULL,
    "start_at" TIMESTAMPTZ(0) NOT NULL,
    "end_at" TIMESTAMPTZ(0) NOT NULL,
    "status" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "snapshot" JSONB,

    CONSTRAINT "begun_dates_pkey" PRIMARY KEY ("event_id","slot")
);

-- CreateTable
CREATE TABLE "cancelled_dates" (
    "event_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "document" JSONB NOT NULL,
    "cancelled_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cancelled_dates_pkey" PRIMARY KEY ("event_id","slot")
);

-- CreateTable
CREATE TABLE "date_responses" (
    "event_id" UUID NOT NULL,
    "slot" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "comment" TEXT,
    "responded_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "date_responses_pkey" PRIMARY KEY ("event_id","slot","email")
);

-- CreateTable
CREATE TABLE "create_keys" (
    "inbox_uid" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "event_id" UUID NOT NULL,
    "operation_id" UUID NOT NULL,

    CONSTRAINT "create_keys_pkey" PRIMARY KEY ("inbox_uid","client_id")
);

-- CreateTable
CREATE TABLE "deletions" (
    "id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "answer" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deletions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outgoing_mails" (
    "id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "recipient" TEXT NOT NULL,
    "recipient_name" TEXT,
    "about" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "calendar" TEXT NOT NULL,
    "only_invited" BOOLEAN NOT NULL DEFAULT false,
    "message_id" TEXT NOT NULL,
    "in_reply_to" TEXT,
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outgoing_mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invited" (
    "event_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "message_id" TEXT NOT NULL,

    CONSTRAINT "invited_pkey" PRIMARY KEY ("event_id","email")
);

-- CreateTable
CREATE TABLE "feeds" (
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feeds_pkey" PRIMARY KEY ("inbox_uid")
);

-- CreateTable
CREATE TABLE "calendar_access" (
    "organization_id" UUID NOT NULL,
    "access" BOOLEAN NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "calendar_access_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "take_overs" (
    "organization_id" UUID NOT NULL,
    "take_overs" INTEGER NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "take_overs_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "calendars_organization_id_idx" ON "calendars"("organization_id");

-- CreateIndex
CREATE INDEX "events_inbox_uid_kind_start_at_idx" ON "events"("inbox_uid", "kind", "start_at");

-- CreateIndex
CREATE INDEX "events_inbox_uid_updated_at_id_idx" ON "events"("inbox_uid", "updated_at", "id");

-- CreateIndex
CREATE INDEX "events_organization_id_idx" ON "events"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "events_inbox_uid_uid_recurrence_id_key" ON "events"("inbox_uid", "uid", "recurrence_id");

-- CreateIndex
CREATE INDEX "edits_inbox_uid_updated_at_event_id_idx" ON "edits"("inbox_uid", "updated_at", "event_id");

-- CreateIndex
CREATE INDEX "edits_organization_id_idx" ON "edits"("organization_id");

-- CreateIndex
CREATE INDEX "begun_dates_end_at_idx" ON "begun_dates"("end_at");

-- CreateIndex
CREATE INDEX "begun_dates_inbox_uid_idx" ON "begun_dates"("inbox_uid");

-- CreateIndex
CREATE INDEX "begun_dates_organization_id_idx" ON "begun_dates"("organization_id");

-- CreateIndex
CREATE INDEX "cancelled_dates_cancelled_at_idx" ON "cancelled_dates"("cancelled_at");

-- CreateIndex
CREATE INDEX "cancelled_dates_inbox_uid_idx" ON "cancelled_dates"("inbox_uid");

-- CreateIndex
CREATE INDEX "cancelled_dates_organization_id_idx" ON "cancelled_dates"("organization_id");

-- CreateIndex
CREATE INDEX "date_responses_inbox_uid_idx" ON "date_responses"("inbox_uid");

-- CreateIndex
CREATE INDEX "date_responses_organization_id_idx" ON "date_responses"("organization_id");

-- CreateIndex
CREATE INDEX "create_keys_organization_id_idx" ON "create_keys"("organization_id");

-- CreateIndex
CREATE INDEX "deletions_expires_at_idx" ON "deletions"("expires_at");

-- CreateIndex
CREATE INDEX "deletions_inbox_uid_idx" ON "deletions"("inbox_uid");

-- CreateIndex
CREATE UNIQUE INDEX "deletions_organization_id_key_key" ON "deletions"("organization_id", "key");

-- CreateIndex
CREATE INDEX "outgoing_mails_inbox_uid_idx" ON "outgoing_mails"("inbox_uid");

-- CreateIndex
CREATE INDEX "outgoing_mails_organization_id_idx" ON "outgoing_mails"("organization_id");

-- CreateIndex
CREATE INDEX "outgoing_mails_event_id_recipient_idx" ON "outgoing_mails"("event_id", "recipient");

-- CreateIndex
CREATE INDEX "invited_inbox_uid_idx" ON "invited"("inbox_uid");

-- CreateIndex
CREATE INDEX "invited_organization_id_idx" ON "invited"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "feeds_hash_key" ON "feeds"("hash");

-- CreateIndex
CREATE INDEX "feeds_organization_id_idx" ON "feeds"("organization_id");

-- CreateIndex
CREATE INDEX "take_overs_heard_at_idx" ON "take_overs"("heard_at");

-- AddForeignKey
ALTER TABLE "edits" ADD CONSTRAINT "edits_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "begun_dates" ADD CONSTRAINT "begun_dates_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cancelled_dates" ADD CONSTRAINT "cancelled_dates_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "date_responses" ADD CONSTRAINT "date_responses_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invited" ADD CONSTRAINT "invited_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "events"("id") ON DELETE CASCADE ON UPDATE CASCADE;
