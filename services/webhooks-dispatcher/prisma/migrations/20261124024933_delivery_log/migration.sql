-- CreateTable
CREATE TABLE "delivery_log" (
    "id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" JSONB NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ended_webhooks" (
    "id" TEXT NOT NULL,

    CONSTRAINT "ended_webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "delivery_log_webhook_id_created_at_id_idx" ON "delivery_log"("webhook_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "delivery_log_created_at_idx" ON "delivery_log" USING BRIN ("created_at");

-- Disabling a webhook ends what is being retried.
CREATE INDEX "delivery_log_retrying_idx" ON "delivery_log"("webhook_id") WHERE "state" = 'retrying';
