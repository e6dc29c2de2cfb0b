ALTER TABLE "deleted_inboxes" ALTER COLUMN "address" DROP NOT NULL,
ADD COLUMN "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

CREATE TABLE "deleted_organizations" (
    "organization_id" UUID NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "purged_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_organizations_pkey" PRIMARY KEY ("organization_id")
);

CREATE INDEX "deleted_inboxes_organization_id_idx" ON "deleted_inboxes"("organization_id");
CREATE INDEX "deleted_inboxes_deleted_at_idx" ON "deleted_inboxes"("deleted_at");

-- What is still to be purged is looked for all the time; Prisma's schema cannot say so.
CREATE INDEX "deleted_inboxes_unpurged" ON "deleted_inboxes"("due_at") WHERE "purged_at" IS NULL;
CREATE INDEX "deleted_organizations_unpurged" ON "deleted_organizations"("deleted_at") WHERE "purged_at" IS NULL;
