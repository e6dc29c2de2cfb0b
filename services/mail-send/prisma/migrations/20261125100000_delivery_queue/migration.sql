-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "queued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
UPDATE "deliveries" SET "queued_at" = "sends"."accepted_at" FROM "sends"
 WHERE "sends"."id" = "deliveries"."send_id" AND "deliveries"."state" IN ('queued', 'handing_over', 'deferred');

-- What waits, by destination: counted from this index alone.
CREATE INDEX "deliveries_waiting_idx" ON "deliveries"("destination", "queued_at")
 WHERE "state" IN ('queued', 'handing_over', 'deferred');

-- CreateTable
CREATE TABLE "delivery_holds" (
    "id" UUID NOT NULL,
    "organization_id" UUID,
    "destination" TEXT,
    "operator" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_holds_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "delivery_holds_scope" CHECK ("organization_id" IS NOT NULL OR "destination" IS NOT NULL)
);
