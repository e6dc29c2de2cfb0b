-- AlterTable
ALTER TABLE "inbound" ADD COLUMN     "waited" JSONB;

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "authentication" JSONB;

-- CreateTable
CREATE TABLE "waiting_mails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "inbox_address" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "blob" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "envelope" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "times" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "domain" TEXT NOT NULL,
    "questions" JSONB NOT NULL,
    "verdict" JSONB NOT NULL,

    CONSTRAINT "waiting_mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "failing_domains" (
    "domain" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "failing_domains_pkey" PRIMARY KEY ("domain")
);

-- CreateIndex
CREATE INDEX "waiting_mails_due_at_idx" ON "waiting_mails"("due_at");

-- CreateIndex
CREATE INDEX "waiting_mails_inbox_uid_idx" ON "waiting_mails"("inbox_uid");

-- CreateIndex
CREATE INDEX "failing_domains_seen_at_idx" ON "failing_domains"("seen_at");
