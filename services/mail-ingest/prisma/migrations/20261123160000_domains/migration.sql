-- CreateTable
CREATE TABLE "domains" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "inbound_enabled" BOOLEAN NOT NULL,
    "subdomains_enabled" BOOLEAN NOT NULL,
    "feedback_enabled" BOOLEAN NOT NULL,
    "version" BIGINT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "domains_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "domains_domain_idx" ON "domains"("domain");

-- CreateIndex
CREATE INDEX "domains_organization_id_idx" ON "domains"("organization_id");
