-- CreateTable
CREATE TABLE "drafts" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "source_id" TEXT,
    "reply_all" BOOLEAN NOT NULL DEFAULT false,
    "references" TEXT[] NOT NULL,
    "to" TEXT[] NOT NULL,
    "cc" TEXT[] NOT NULL,
    "bcc" TEXT[] NOT NULL,
    "reply_to" TEXT[] NOT NULL,
    "subject" TEXT,
    "text" TEXT,
    "html" TEXT,
    "preview" TEXT,
    "labels" TEXT[] NOT NULL,
    "send_at" TIMESTAMPTZ(3),
    "send_status" TEXT,
    "sending_since" TIMESTAMPTZ(3),
    "client_id" TEXT,
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 1,
    "size" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "drafts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "files" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "draft_id" UUID,
    "position" INTEGER NOT NULL DEFAULT 0,
    "filename" TEXT,
    "content_type" TEXT,
    "content_disposition" TEXT,
    "content_id" TEXT,
    "size" INTEGER NOT NULL DEFAULT 0,
    "sha256" TEXT NOT NULL DEFAULT '',
    "touched_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "files_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "drafts_inbox_uid_updated_at_id_idx" ON "drafts"("inbox_uid", "updated_at", "id");

-- CreateIndex
CREATE INDEX "drafts_pod_id_updated_at_id_idx" ON "drafts"("pod_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "drafts_organization_id_updated_at_id_idx" ON "drafts"("organization_id", "updated_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "drafts_inbox_uid_client_id_key" ON "drafts"("inbox_uid", "client_id");

-- CreateIndex
CREATE INDEX "files_draft_id_position_idx" ON "files"("draft_id", "position");

-- CreateIndex
CREATE INDEX "files_inbox_uid_idx" ON "files"("inbox_uid");

-- CreateIndex
CREATE INDEX "files_organization_id_idx" ON "files"("organization_id");

-- Files that no draft keeps are swept by age.
CREATE INDEX "files_unkept_idx" ON "files"("touched_at") WHERE "draft_id" IS NULL;
