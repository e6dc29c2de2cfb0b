-- Tombstones of inboxes, pods and organizations, and how far each is purged.
CREATE TABLE "deleted_scopes" (
    -- inbox_uid, pod_id or organization_id, as "kind" says. The default pod has the id of its organization.
    "id" UUID NOT NULL,
    -- inbox, pod, organization.
    "kind" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    -- Of an inbox, in a service that names it in late events; the address only until its organization is deleted too.
    "pod_id" UUID,
    "address" TEXT,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    -- When the next batch is due.
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- When nothing was left except what has to be finished first, such as the delivery of accepted mail.
    "purged_at" TIMESTAMPTZ(3),
    -- When that was gone too.
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_scopes_pkey" PRIMARY KEY ("id","kind")
);
CREATE INDEX "deleted_scopes_organization_id_idx" ON "deleted_scopes"("organization_id");
CREATE INDEX "deleted_scopes_deleted_at_idx" ON "deleted_scopes"("deleted_at");
-- The purger queries unpurged scopes continuously. It serves organizations in rotation, and the index leads from one to
-- the next.
CREATE INDEX "deleted_scopes_open" ON "deleted_scopes"("kind", "organization_id", "due_at") WHERE "ended_at" IS NULL;
