-- CreateTable
CREATE TABLE "refusals" (
    "organization_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "send_id" UUID NOT NULL,
    "refused_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refusals_pkey" PRIMARY KEY ("organization_id","address")
);

-- CreateIndex
CREATE INDEX "refusals_refused_at_idx" ON "refusals"("refused_at");
