-- CreateTable
CREATE TABLE "label_removals" (
    "organization_id" UUID NOT NULL,
    "made_before" TIMESTAMPTZ(3) NOT NULL,
    "after_inbox" UUID,
    "after_timestamp" TIMESTAMPTZ(3),
    "after_id" UUID,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "label_removals_pkey" PRIMARY KEY ("organization_id")
);
