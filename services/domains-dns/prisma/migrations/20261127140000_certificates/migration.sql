-- CreateTable
CREATE TABLE "tracking_certificates" (
    "name" TEXT NOT NULL,
    "directory" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "private_key" BYTEA NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "renew_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tracking_certificates_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "certificate_orders" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "outcome" TEXT,
    "retry_at" TIMESTAMPTZ(3),

    CONSTRAINT "certificate_orders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "certificate_challenges" (
    "token" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "key_authorization" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "certificate_challenges_pkey" PRIMARY KEY ("token")
);

-- CreateTable
CREATE TABLE "certificate_revocations" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "directory" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "certificate_revocations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "acme_accounts" (
    "directory" TEXT NOT NULL,
    "private_key" BYTEA NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "url" TEXT,

    CONSTRAINT "acme_accounts_pkey" PRIMARY KEY ("directory")
);

-- CreateIndex
CREATE INDEX "tracking_certificates_not_after_idx" ON "tracking_certificates"("not_after");

-- CreateIndex
CREATE INDEX "certificate_orders_name_started_at_idx" ON "certificate_orders"("name", "started_at");

-- CreateIndex
CREATE INDEX "certificate_orders_started_at_idx" ON "certificate_orders"("started_at");

-- CreateIndex
CREATE INDEX "certificate_challenges_expires_at_idx" ON "certificate_challenges"("expires_at");

-- CreateIndex
CREATE INDEX "certificate_challenges_host_idx" ON "certificate_challenges"("host");

-- Domains that need a certificate, searched every minute for those that have none.
CREATE INDEX "domains_tracked" ON "domains"("name") WHERE "tracking_enabled";
