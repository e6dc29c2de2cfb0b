-- CreateTable
CREATE TABLE "reputation_counts" (
    "organization_id" UUID NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "slot" INTEGER NOT NULL,
    "sent" INTEGER NOT NULL,
    "bounced" INTEGER NOT NULL,
    "complained" INTEGER NOT NULL,

    CONSTRAINT "reputation_counts_pkey" PRIMARY KEY ("organization_id","hour","slot")
);

-- CreateTable
CREATE TABLE "reputations" (
    "organization_id" UUID NOT NULL,
    "warned_at" TIMESTAMPTZ(3),
    "reset_at" TIMESTAMPTZ(3),

    CONSTRAINT "reputations_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "reputation_counts_hour_idx" ON "reputation_counts"("hour");
