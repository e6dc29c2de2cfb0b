-- Labels that an earlier holder of an organization asked for are recognised by the number of take-overs then, whenever they
-- are written.
ALTER TABLE "label_log" ADD COLUMN "take_overs" INTEGER;
ALTER TABLE "label_removals" ADD COLUMN "take_overs" INTEGER;

-- The last confirmed take-over of an organization.
CREATE TABLE "take_overs" (
    "organization_id" UUID NOT NULL,
    "take_overs" INTEGER NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "take_overs_pkey" PRIMARY KEY ("organization_id")
);
