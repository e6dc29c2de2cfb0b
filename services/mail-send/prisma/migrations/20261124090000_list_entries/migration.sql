-- CreateTable
CREATE TABLE "list_entries" (
    "id" UUID NOT NULL,
    "tier" TEXT NOT NULL,
    "scope_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "direction" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    -- Ordered by bytes, whatever the order of the database.
    "entry" TEXT COLLATE "C" NOT NULL,
    "entry_type" TEXT NOT NULL,
    "reason" TEXT,
    "read_only" BOOLEAN NOT NULL DEFAULT false,
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "list_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "list_entries_scope_id_tier_direction_type_entry_key" ON "list_entries"("scope_id", "tier", "direction", "type", "entry");

-- CreateIndex
CREATE INDEX "list_entries_organization_id_id_idx" ON "list_entries"("organization_id", "id");

-- CreateTable
CREATE TABLE "take_overs" (
    "organization_id" UUID NOT NULL,
    "take_overs" INTEGER NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "take_overs_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "take_overs_heard_at_idx" ON "take_overs"("heard_at");

-- Suppressed addresses are read-only entries of the organization. None may be added by an earlier version meanwhile.
LOCK TABLE "suppressions" IN ACCESS EXCLUSIVE MODE;
INSERT INTO "list_entries" ("id", "tier", "scope_id", "organization_id", "direction", "type", "entry", "entry_type", "reason", "read_only", "created_at", "updated_at")
SELECT gen_random_uuid(), 'organization', "organization_id", "organization_id", 'send', 'block', "address", 'email', "reason", true, "created_at", "created_at"
  FROM "suppressions";

-- DropTable
DROP TABLE "suppressions";
