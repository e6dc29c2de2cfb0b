CREATE TABLE "deleted_inboxes" (
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "purged_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_inboxes_pkey" PRIMARY KEY ("inbox_uid")
);

CREATE TABLE "deleted_organizations" (
    "organization_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_organizations_pkey" PRIMARY KEY ("organization_id")
);

CREATE INDEX "deleted_inboxes_deleted_at_idx" ON "deleted_inboxes"("deleted_at");
CREATE INDEX "sends_organization_id_idx" ON "sends"("organization_id");

-- What is still to be purged is looked for all the time; Prisma's schema cannot say so.
CREATE INDEX "deleted_inboxes_open" ON "deleted_inboxes"("due_at") WHERE "ended_at" IS NULL;
CREATE INDEX "deleted_organizations_open" ON "deleted_organizations"("due_at") WHERE "ended_at" IS NULL;
