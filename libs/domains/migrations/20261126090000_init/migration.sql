-- Registrations of domains by organizations, as the events of their owner describe them. A deleted one stays, so that an
-- older event does not bring it back.
CREATE TABLE "registered_domains" (
    -- domain_uid: that of one registration for ever.
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    -- Lower case, in ASCII. Several organizations may have registered the same.
    "domain" TEXT NOT NULL,
    "inbound_enabled" BOOLEAN NOT NULL,
    "subdomains_enabled" BOOLEAN NOT NULL,
    "feedback_enabled" BOOLEAN NOT NULL,
    "sending_ready" BOOLEAN NOT NULL,
    -- Domain of the envelope senders of its mail; null once deleted.
    "return_path" TEXT,
    -- Host of the images that tell of opening; null where there is none.
    "tracking_host" TEXT,
    "version" BIGINT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "registered_domains_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "registered_domains_domain_idx" ON "registered_domains"("domain");
CREATE INDEX "registered_domains_organization_id_idx" ON "registered_domains"("organization_id");
