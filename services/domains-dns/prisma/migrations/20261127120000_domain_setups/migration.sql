-- CreateTable
CREATE TABLE "domain_setups" (
    "state_hash" BYTEA NOT NULL,
    "domain_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "credential_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "domain_setups_pkey" PRIMARY KEY ("state_hash")
);

-- CreateIndex
CREATE INDEX "domain_setups_expires_at_idx" ON "domain_setups"("expires_at");

-- CreateIndex
CREATE INDEX "domain_setups_organization_id_idx" ON "domain_setups"("organization_id");
