-- CreateTable
CREATE TABLE "recipient_ramps" (
    "organization_id" UUID NOT NULL,
    "recipients" INTEGER NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recipient_ramps_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "known_recipients" (
    "organization_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "known_recipients_pkey" PRIMARY KEY ("organization_id","hash")
);

-- CreateIndex
CREATE INDEX "recipient_ramps_ends_at_idx" ON "recipient_ramps"("ends_at");
