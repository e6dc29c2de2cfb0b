-- CreateTable
CREATE TABLE "domains" (
    "uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID,
    "name" TEXT NOT NULL,
    "client_id" TEXT,
    "inbound_enabled" BOOLEAN NOT NULL,
    "subdomains_enabled" BOOLEAN NOT NULL,
    "feedback_enabled" BOOLEAN NOT NULL,
    "tracking_enabled" BOOLEAN NOT NULL,
    "allow_conflicting_provider" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'NOT_STARTED',
    "reason" TEXT DEFAULT 'dns_records_missing',
    "records" JSONB NOT NULL DEFAULT '{}',
    "sending_ready" BOOLEAN NOT NULL DEFAULT false,
    "dkim_failing_since" TIMESTAMPTZ(3),
    "converging_since" TIMESTAMPTZ(3),
    "failing_checks" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "verified_at" TIMESTAMPTZ(3),
    "last_verified_at" TIMESTAMPTZ(3),
    "lost_at" TIMESTAMPTZ(3),
    "barred_at" TIMESTAMPTZ(3),
    "certified_until" TIMESTAMPTZ(3),
    "scheduled_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "checked_at" TIMESTAMPTZ(3),
    "checks" INTEGER NOT NULL DEFAULT 0,
    "checking_until" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "domains_pkey" PRIMARY KEY ("uid")
);

-- CreateTable
CREATE TABLE "domain_keys" (
    "domain_uid" UUID NOT NULL,
    "selector" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "private_key" BYTEA NOT NULL,
    "sealed_with" TEXT NOT NULL,

    CONSTRAINT "domain_keys_pkey" PRIMARY KEY ("domain_uid")
);

-- CreateTable
CREATE TABLE "former_proofs" (
    "name" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "last_verified_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "former_proofs_pkey" PRIMARY KEY ("name","organization_id")
);

-- CreateIndex
CREATE INDEX "domains_name_idx" ON "domains"("name");

-- CreateIndex
CREATE INDEX "domains_organization_id_created_at_uid_idx" ON "domains"("organization_id", "created_at", "uid");

-- CreateIndex
CREATE UNIQUE INDEX "domains_organization_id_name_key" ON "domains"("organization_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "domains_organization_id_client_id_key" ON "domains"("organization_id", "client_id");

-- CreateIndex
CREATE INDEX "former_proofs_last_verified_at_idx" ON "former_proofs"("last_verified_at");

-- AddForeignKey
ALTER TABLE "domain_keys" ADD CONSTRAINT "domain_keys_domain_uid_fkey" FOREIGN KEY ("domain_uid") REFERENCES "domains"("uid") ON DELETE CASCADE ON UPDATE CASCADE;
