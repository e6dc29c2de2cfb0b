-- Entries of before this migration keep nulls here: no cursor leads to them.
ALTER TABLE "stream_log" ADD COLUMN "subject" TEXT;
ALTER TABLE "stream_log" ADD COLUMN "happened_at" TIMESTAMPTZ(3);

-- What was missed is read by scope: an inbox's share of a busy day is found without reading the rest of it.
CREATE INDEX "stream_log_organization_idx" ON "stream_log"("organization_id", "position") WHERE "kind" = 'event';
CREATE INDEX "stream_log_pod_idx" ON "stream_log"("pod_id", "position") WHERE "kind" = 'event';
CREATE INDEX "stream_log_inbox_idx" ON "stream_log"("inbox_uid", "position") WHERE "kind" = 'event';
CREATE INDEX "stream_log_subject_idx" ON "stream_log"("inbox_uid", "subject") WHERE "kind" = 'event';
CREATE INDEX "stream_log_deleted_inbox_idx" ON "stream_log"("inbox_uid") WHERE "kind" = 'inbox_deleted';
CREATE INDEX "stream_log_deleted_pod_idx" ON "stream_log"("pod_id") WHERE "kind" = 'pod_deleted';
CREATE INDEX "stream_log_taken_over_idx" ON "stream_log"("position") WHERE "kind" = 'taken_over';

CREATE TABLE "stream_log_swept" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "through" BIGINT NOT NULL,

    CONSTRAINT "stream_log_swept_pkey" PRIMARY KEY ("id")
);
INSERT INTO "stream_log_swept" ("through") VALUES (0);

CREATE TABLE "deleted_messages" (
    "inbox_uid" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deleted_messages_pkey" PRIMARY KEY ("inbox_uid", "message_id")
);

CREATE INDEX "deleted_messages_noted_at_idx" ON "deleted_messages"("noted_at");
