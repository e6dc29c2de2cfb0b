-- CreateTable
CREATE TABLE "list_entries" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "tier" TEXT NOT NULL,
    "scope_id" UUID NOT NULL,
    "direction" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "entry" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "list_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "list_entries_scope_id_tier_entry_idx" ON "list_entries"("scope_id", "tier", "entry");

-- CreateIndex
CREATE INDEX "list_entries_organization_id_deleted_at_idx" ON "list_entries"("organization_id", "deleted_at");

-- Whether an allow list has any entry is asked for each mail; whether one has to be forgotten, once an hour.
CREATE INDEX "list_entries_allow" ON "list_entries"("scope_id", "tier", "direction") WHERE "type" = 'allow' AND "deleted_at" IS NULL;
CREATE INDEX "list_entries_deleted" ON "list_entries"("deleted_at") WHERE "deleted_at" IS NOT NULL;
