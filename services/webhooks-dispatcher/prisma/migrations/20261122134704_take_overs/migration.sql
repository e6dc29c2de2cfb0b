-- AlterTable
ALTER TABLE "webhooks" ADD COLUMN     "take_overs" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "take_overs" (
    "organization_id" UUID NOT NULL,
    "take_overs" INTEGER NOT NULL,
    "heard_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "take_overs_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "take_overs_heard_at_idx" ON "take_overs"("heard_at");
