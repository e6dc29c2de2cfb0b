-- Where Kafka keeps the event, to send it again on request. Of earlier deliveries that is not known.
ALTER TABLE "payloads" ADD COLUMN "record" TEXT;
ALTER TABLE "delivery_log" ADD COLUMN "record" TEXT;

-- The message of a delivery that was asked for: it is looked up before each attempt.
ALTER TABLE "deliveries" ADD COLUMN "message_inbox_uid" UUID,
ADD COLUMN "message_id" TEXT;

-- An event is in the log of a webhook once, under the id that its receiver knows.
CREATE UNIQUE INDEX "delivery_log_webhook_id_event_id_key" ON "delivery_log"("webhook_id", "event_id");

-- What a webhook matched before its last change is not known, so it may have matched nothing then.
ALTER TABLE "webhooks" ADD COLUMN "matching_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN "warned_at" TIMESTAMPTZ(3);
UPDATE "webhooks" SET "matching_since" = "updated_at";

-- CreateTable
CREATE TABLE "webhook_notices" (
    "webhook_id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "failing_since" TIMESTAMPTZ(3) NOT NULL,
    "disabled" BOOLEAN NOT NULL,
    "mail_id" UUID,

    CONSTRAINT "webhook_notices_pkey" PRIMARY KEY ("webhook_id")
);

-- CreateTable
CREATE TABLE "warned_organizations" (
    "organization_id" UUID NOT NULL,
    "mailed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "warned_organizations_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "webhook_notices_organization_id_idx" ON "webhook_notices"("organization_id");

-- CreateIndex
CREATE INDEX "warned_organizations_mailed_at_idx" ON "warned_organizations"("mailed_at");

-- AddForeignKey
ALTER TABLE "webhook_notices" ADD CONSTRAINT "webhook_notices_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
