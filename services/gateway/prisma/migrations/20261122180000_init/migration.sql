CREATE TABLE "organizations" (
    "id" UUID NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "authentication_type" TEXT,
    "human_email" TEXT,
    "human_replacements" INTEGER NOT NULL DEFAULT 0,
    "sign_up_source" TEXT,
    "sign_up_referrer" TEXT,
    "inbox_count" INTEGER NOT NULL DEFAULT 0,
    "inbox_limit" INTEGER,
    "domain_limit" INTEGER,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "credential_limit" INTEGER,
    "deleting_at" TIMESTAMPTZ(3),
    "take_overs" INTEGER NOT NULL DEFAULT 0,
    "taken_over_at" TIMESTAMPTZ(3),

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "organizations_status_check" CHECK ("status" IN ('active', 'suspended')),
    CONSTRAINT "organizations_authentication_type_check" CHECK ("authentication_type" IN ('agent_unverified', 'agent_verified')),
    CONSTRAINT "organizations_inbox_count_check" CHECK ("inbox_count" >= 0)
);
CREATE UNIQUE INDEX "organizations_human_email_key" ON "organizations"("human_email");
CREATE INDEX "organizations_created_at_id_idx" ON "organizations"("created_at", "id");

CREATE TABLE "pods" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "client_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "pods_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pods_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
-- The alias of a pod is unique among live pods only, which schema.prisma cannot express.
CREATE UNIQUE INDEX "pods_client_id_live_key" ON "pods"("organization_id", "client_id") WHERE "deleted_at" IS NULL;
CREATE INDEX "pods_organization_id_created_at_id_idx" ON "pods"("organization_id", "created_at", "id");

CREATE TABLE "inboxes" (
    "uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "display_name" TEXT,
    "client_id" TEXT,
    "status" TEXT NOT NULL DEFAULT 'active',
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "search_words" TEXT NOT NULL DEFAULT '',
    "inherited" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],

    CONSTRAINT "inboxes_pkey" PRIMARY KEY ("uid"),
    CONSTRAINT "inboxes_status_check" CHECK ("status" IN ('active', 'paused')),
    CONSTRAINT "inboxes_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "inboxes_pod_id_fkey" FOREIGN KEY ("pod_id") REFERENCES "pods"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "inboxes_organization_id_created_at_uid_idx" ON "inboxes"("organization_id", "created_at", "uid");
CREATE INDEX "inboxes_pod_id_created_at_uid_idx" ON "inboxes"("pod_id", "created_at", "uid");
-- Address and alias of an inbox are unique among live inboxes only, which schema.prisma cannot express.
CREATE UNIQUE INDEX "inboxes_address_live_key" ON "inboxes"("address") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "inboxes_client_id_live_key" ON "inboxes"("organization_id", "client_id") WHERE "deleted_at" IS NULL;

-- Every creation of an inbox checks whether its address is still being purged.
CREATE INDEX "inboxes_address_deleted_idx" ON "inboxes"("address") WHERE "deleted_at" IS NOT NULL;
-- Each step of the deletion of an organization counts its inboxes that are not purged yet.
CREATE INDEX "inboxes_unpurged" ON "inboxes"("organization_id") WHERE "deleted_at" IS NOT NULL;
-- Ordered by bytes, so that all texts with one beginning are a range.
CREATE INDEX "inboxes_organization_id_address_live" ON "inboxes"("organization_id", "address" COLLATE "C") WHERE "deleted_at" IS NULL;

CREATE TABLE "inbox_words" (
    "organization_id" UUID NOT NULL,
    "word" TEXT COLLATE "C" NOT NULL,
    "inbox_uid" UUID NOT NULL,

    CONSTRAINT "inbox_words_pkey" PRIMARY KEY ("organization_id", "word", "inbox_uid")
);

CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "type" TEXT NOT NULL DEFAULT 'bearer',
    "tier" TEXT NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "secret_hash" BYTEA,
    "prefix" TEXT,
    "name" TEXT NOT NULL,
    "permissions" JSONB,
    "app_connect" BOOLEAN NOT NULL DEFAULT false,
    "provisional" BOOLEAN NOT NULL DEFAULT false,
    "sign_up" BOOLEAN NOT NULL DEFAULT false,
    "expires_at" TIMESTAMPTZ(3),
    "used_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "client_id" TEXT,
    "created_by" UUID,
    "fingerprint" TEXT,
    "public_key" JSONB,

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "credentials_type_check" CHECK ("type" IN ('bearer', 'public_key')),
    CONSTRAINT "credentials_tier_check" CHECK (CASE "tier"
        WHEN 'organization' THEN "pod_id" IS NULL AND "inbox_uid" IS NULL
        WHEN 'pod' THEN "pod_id" IS NOT NULL AND "inbox_uid" IS NULL
        WHEN 'inbox' THEN "pod_id" IS NOT NULL AND "inbox_uid" IS NOT NULL
        ELSE false END),
    CONSTRAINT "credentials_permissions_check" CHECK (jsonb_typeof("permissions") = 'array'),
    -- A credential has the columns of its own family, and none of the other.
    CONSTRAINT "credentials_family_check" CHECK (CASE "type"
        WHEN 'bearer' THEN "secret_hash" IS NOT NULL AND "prefix" IS NOT NULL
            AND num_nonnulls("public_key", "fingerprint", "client_id", "created_by") = 0
        WHEN 'public_key' THEN "secret_hash" IS NULL AND "prefix" IS NULL AND "permissions" IS NOT NULL
            AND num_nonnulls("public_key", "fingerprint", "created_by") = 3
        ELSE false END),
    CONSTRAINT "credentials_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    -- A pod or inbox cannot be deleted before the credentials that are bound to it: otherwise a credential would
    -- be left that is bound to something wider.
    CONSTRAINT "credentials_pod_id_fkey" FOREIGN KEY ("pod_id") REFERENCES "pods"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "credentials_inbox_uid_fkey" FOREIGN KEY ("inbox_uid") REFERENCES "inboxes"("uid") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "credentials_organization_id_client_id_key" ON "credentials"("organization_id", "client_id");
CREATE UNIQUE INDEX "credentials_secret_hash_key" ON "credentials"("secret_hash");
CREATE INDEX "credentials_organization_id_created_at_id_idx" ON "credentials"("organization_id", "created_at", "id");
CREATE INDEX "credentials_pod_id_created_at_id_idx" ON "credentials"("pod_id", "created_at", "id");
CREATE INDEX "credentials_inbox_uid_created_at_id_idx" ON "credentials"("inbox_uid", "created_at", "id");
CREATE INDEX "credentials_expires_at_idx" ON "credentials"("expires_at");

CREATE TABLE "verification_codes" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "human_email" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "mailed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "credential_id" UUID,

    CONSTRAINT "verification_codes_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "verification_codes_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "verification_codes_credential_id_fkey" FOREIGN KEY ("credential_id") REFERENCES "credentials"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "verification_codes_credential_id_key" ON "verification_codes"("credential_id");
CREATE INDEX "verification_codes_organization_id_idx" ON "verification_codes"("organization_id");
-- An organization has one code of its own, in addition to those of its provisional keys. schema.prisma cannot express
-- this.
CREATE UNIQUE INDEX "verification_codes_organization_key" ON "verification_codes"("organization_id") WHERE "credential_id" IS NULL;

CREATE TABLE "code_mails" (
    "id" UUID NOT NULL,
    "human_email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "code_id" UUID,
    "provisional" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "code_mails_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "code_mails_human_email_created_at_idx" ON "code_mails"("human_email", "created_at");
CREATE INDEX "code_mails_code_id_idx" ON "code_mails"("code_id");
CREATE INDEX "code_mails_created_at_idx" ON "code_mails"("created_at");

CREATE TABLE "retired_addresses" (
    "address" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_addresses_pkey" PRIMARY KEY ("address")
);
CREATE INDEX "retired_addresses_until_idx" ON "retired_addresses"("until");

-- No foreign keys: the log outlives the organizations and credentials that it describes.
CREATE TABLE "audit_entries" (
    "position" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "organization_id" UUID NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" TEXT,
    "request_id" TEXT,
    "action" TEXT NOT NULL,
    "credential_id" UUID,
    "credential_type" TEXT,
    "tier" TEXT,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "prefix" TEXT,
    "name" TEXT,
    "details" JSONB NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("position"),
    CONSTRAINT "audit_entries_actor_kind_check" CHECK ("actor_kind" IN ('credential', 'operator', 'sign_up', 'system'))
);
CREATE INDEX "audit_entries_organization_id_at_position_idx" ON "audit_entries"("organization_id", "at", "position");
CREATE INDEX "audit_entries_at_position_idx" ON "audit_entries"("at", "position");

CREATE TABLE "signature_nonces" (
    "credential_id" UUID NOT NULL,
    "nonce" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "signature_nonces_pkey" PRIMARY KEY ("credential_id","nonce")
);

CREATE INDEX "signature_nonces_used_at_idx" ON "signature_nonces"("used_at");
