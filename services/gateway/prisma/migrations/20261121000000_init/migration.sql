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

    CONSTRAINT "pods_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "pods_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "pods_organization_id_client_id_key" ON "pods"("organization_id", "client_id");
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

    CONSTRAINT "inboxes_pkey" PRIMARY KEY ("uid"),
    CONSTRAINT "inboxes_status_check" CHECK ("status" IN ('active', 'paused')),
    CONSTRAINT "inboxes_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "inboxes_pod_id_fkey" FOREIGN KEY ("pod_id") REFERENCES "pods"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "inboxes_organization_id_created_at_uid_idx" ON "inboxes"("organization_id", "created_at", "uid");
CREATE INDEX "inboxes_pod_id_created_at_uid_idx" ON "inboxes"("pod_id", "created_at", "uid");
-- Only live inboxes hold their address and alias; Prisma's schema cannot say so.
CREATE UNIQUE INDEX "inboxes_address_live_key" ON "inboxes"("address") WHERE "deleted_at" IS NULL;
CREATE UNIQUE INDEX "inboxes_client_id_live_key" ON "inboxes"("organization_id", "client_id") WHERE "deleted_at" IS NULL;

CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "type" TEXT NOT NULL DEFAULT 'bearer',
    "tier" TEXT NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "secret_hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
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

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "credentials_type_check" CHECK ("type" IN ('bearer', 'public_key')),
    CONSTRAINT "credentials_tier_check" CHECK (CASE "tier"
        WHEN 'organization' THEN "pod_id" IS NULL AND "inbox_uid" IS NULL
        WHEN 'pod' THEN "pod_id" IS NOT NULL AND "inbox_uid" IS NULL
        WHEN 'inbox' THEN "pod_id" IS NOT NULL AND "inbox_uid" IS NOT NULL
        ELSE false END),
    CONSTRAINT "credentials_permissions_check" CHECK (jsonb_typeof("permissions") = 'array'),
    CONSTRAINT "credentials_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "credentials_inbox_uid_fkey" FOREIGN KEY ("inbox_uid") REFERENCES "inboxes"("uid") ON DELETE SET NULL ON UPDATE CASCADE
);
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

    CONSTRAINT "verification_codes_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "verification_codes_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "verification_codes_organization_id_key" ON "verification_codes"("organization_id");

CREATE TABLE "code_mails" (
    "id" UUID NOT NULL,
    "human_email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "code_mails_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "code_mails_human_email_created_at_idx" ON "code_mails"("human_email", "created_at");
CREATE INDEX "code_mails_created_at_idx" ON "code_mails"("created_at");

CREATE TABLE "retired_addresses" (
    "address" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_addresses_pkey" PRIMARY KEY ("address")
);
CREATE INDEX "retired_addresses_until_idx" ON "retired_addresses"("until");

CREATE TABLE "outbox" (
    "position" BIGSERIAL NOT NULL,
    "id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "headers" JSONB NOT NULL,
    "payload" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(3),
    "refused" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("position")
);
CREATE INDEX "outbox_published_at_idx" ON "outbox"("published_at");
-- The relay's queue; partial, which schema.prisma cannot say.
CREATE INDEX "outbox_unpublished" ON "outbox"("position") WHERE "published_at" IS NULL AND "refused" IS NULL;

CREATE TABLE "consumed" (
    "consumer" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "consumed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consumed_pkey" PRIMARY KEY ("consumer", "event_id")
);
CREATE INDEX "consumed_consumed_at_idx" ON "consumed"("consumed_at");

CREATE TABLE "timers" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "lease_id" UUID,
    "leased_until" TIMESTAMPTZ(3),
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "timers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "timers_kind_key_key" ON "timers"("kind", "key");
CREATE INDEX "timers_kind_due_at_idx" ON "timers"("kind", "due_at");
