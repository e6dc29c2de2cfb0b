-- CreateTable
CREATE TABLE "apps" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL DEFAULT 'registered',
    "client_id" TEXT NOT NULL,
    "name" TEXT,
    "name_key" TEXT NOT NULL DEFAULT '',
    "description" TEXT,
    "logo_url" TEXT,
    "terms_url" TEXT,
    "privacy_url" TEXT,
    "categories" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "slug" TEXT,
    "slug_key" TEXT,
    "listed" BOOLEAN NOT NULL DEFAULT false,
    "native" BOOLEAN NOT NULL DEFAULT false,
    "redirect_uris" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "initiate_login_uri" TEXT,
    "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "token_endpoint_auth_method" TEXT NOT NULL DEFAULT 'client_secret_basic',
    "owner_signup_limit" INTEGER,
    "disclosure" TEXT,
    "disclosure_version" INTEGER NOT NULL DEFAULT 1,
    "removed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "apps_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app_secrets" (
    "id" UUID NOT NULL,
    "app_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "app_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_up_limits" (
    "app_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "most" INTEGER NOT NULL,

    CONSTRAINT "sign_up_limits_pkey" PRIMARY KEY ("app_id","organization_id")
);

-- CreateTable
CREATE TABLE "rank_snapshots" (
    "id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rank_snapshots_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ranks" (
    "snapshot_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "app_id" UUID NOT NULL,
    "accounts" INTEGER NOT NULL,

    CONSTRAINT "ranks_pkey" PRIMARY KEY ("snapshot_id","position")
);

-- CreateTable
CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "app_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "first_signed_in_at" TIMESTAMPTZ(3) NOT NULL,
    "last_signed_in_at" TIMESTAMPTZ(3) NOT NULL,
    "sign_in_count" INTEGER NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_ups" (
    "app_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "inbox_hash" BYTEA NOT NULL,

    CONSTRAINT "sign_ups_pkey" PRIMARY KEY ("app_id","organization_id","inbox_hash")
);

-- CreateTable
CREATE TABLE "tickets" (
    "hash" BYTEA NOT NULL,
    "app_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "credential_id" UUID NOT NULL,
    "accept_disclosure" BOOLEAN NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tickets_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "connect_replays" (
    "organization_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "api_key_id" UUID NOT NULL,
    "answer" BYTEA,
    "inbox_uid" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "connect_replays_pkey" PRIMARY KEY ("organization_id","key")
);

-- CreateTable
CREATE TABLE "transactions" (
    "jti" TEXT NOT NULL,
    "auth_token" TEXT NOT NULL,
    "app_id" UUID,
    "client_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "state" TEXT,
    "nonce" TEXT,
    "code_challenge" TEXT NOT NULL,
    "login_hint" TEXT,
    "prompt" TEXT,
    "cookie_hash" BYTEA NOT NULL,
    "organization_id" UUID,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "address" TEXT,
    "credential_id" UUID,
    "api_key_id" UUID,
    "accept_disclosure" BOOLEAN NOT NULL DEFAULT false,
    "approved_at" TIMESTAMPTZ(3),
    "approved_by" TEXT,
    "consented_at" TIMESTAMPTZ(3),
    "owner_approved_at" TIMESTAMPTZ(3),
    "owner_hash" BYTEA,
    "outcome" TEXT,
    "reason" TEXT,
    "ended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("jti")
);

-- CreateTable
CREATE TABLE "enrollments" (
    "id" UUID NOT NULL,
    "cookie_hash" BYTEA NOT NULL,
    "challenge" TEXT NOT NULL,
    "api_key_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "jti" TEXT,
    "app_id" UUID,
    "finished_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enrollments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "consents" (
    "client_id" TEXT NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "redirect_uri" TEXT,
    "disclosure_version" INTEGER NOT NULL,
    "owner_hash" BYTEA,
    "given_by" TEXT NOT NULL,
    "given_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consents_pkey" PRIMARY KEY ("client_id","inbox_uid")
);

-- CreateTable
CREATE TABLE "owner_approvals" (
    "jti" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "organization_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "owner_hash" BYTEA NOT NULL,
    "mail_id" UUID NOT NULL,
    "mailed_at" TIMESTAMPTZ(3),
    "decision" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "owner_approvals_pkey" PRIMARY KEY ("jti")
);

-- CreateTable
CREATE TABLE "owner_mails" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "owner_mails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "codes" (
    "hash" BYTEA NOT NULL,
    "jti" TEXT NOT NULL,
    "app_id" UUID,
    "client_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "code_challenge" TEXT NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "nonce" TEXT,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "api_key_id" UUID NOT NULL,
    "owner_hash" BYTEA,
    "owner_approved" BOOLEAN NOT NULL,
    "auth_time" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "codes_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "access_tokens" (
    "hash" BYTEA NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "client_id" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "scopes" TEXT[] NOT NULL,
    "owner_hash" BYTEA,
    "owner_approved" BOOLEAN NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "access_tokens_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "signing_keys" (
    "kid" TEXT NOT NULL,
    "public_key" JSONB NOT NULL,
    "private_key" BYTEA NOT NULL,
    "sealed_with" TEXT NOT NULL,
    "active_from" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "exchange_counts" (
    "subject" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(0) NOT NULL,
    "exchanges" INTEGER NOT NULL,

    CONSTRAINT "exchange_counts_pkey" PRIMARY KEY ("subject","minute")
);

-- CreateIndex
CREATE UNIQUE INDEX "apps_client_id_key" ON "apps"("client_id");

-- CreateIndex
CREATE UNIQUE INDEX "apps_slug_key_key" ON "apps"("slug_key");

-- CreateIndex
CREATE INDEX "apps_name_id_idx" ON "apps"("name", "id");

-- CreateIndex
CREATE INDEX "app_secrets_app_id_idx" ON "app_secrets"("app_id");

-- CreateIndex
CREATE INDEX "rank_snapshots_created_at_idx" ON "rank_snapshots"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "ranks_snapshot_id_app_id_key" ON "ranks"("snapshot_id", "app_id");

-- CreateIndex
CREATE INDEX "accounts_organization_id_first_signed_in_at_id_idx" ON "accounts"("organization_id", "first_signed_in_at", "id");

-- CreateIndex
CREATE INDEX "accounts_pod_id_first_signed_in_at_id_idx" ON "accounts"("pod_id", "first_signed_in_at", "id");

-- CreateIndex
CREATE INDEX "accounts_inbox_uid_first_signed_in_at_id_idx" ON "accounts"("inbox_uid", "first_signed_in_at", "id");

-- CreateIndex
CREATE INDEX "accounts_app_id_organization_id_last_signed_in_at_id_idx" ON "accounts"("app_id", "organization_id", "last_signed_in_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "accounts_app_id_inbox_uid_key" ON "accounts"("app_id", "inbox_uid");

-- CreateIndex
CREATE INDEX "sign_ups_organization_id_idx" ON "sign_ups"("organization_id");

-- CreateIndex
CREATE INDEX "tickets_expires_at_idx" ON "tickets"("expires_at");

-- CreateIndex
CREATE INDEX "tickets_inbox_uid_idx" ON "tickets"("inbox_uid");

-- CreateIndex
CREATE INDEX "tickets_organization_id_idx" ON "tickets"("organization_id");

-- CreateIndex
CREATE INDEX "connect_replays_expires_at_idx" ON "connect_replays"("expires_at");

-- CreateIndex
CREATE INDEX "connect_replays_inbox_uid_idx" ON "connect_replays"("inbox_uid");

-- CreateIndex
CREATE UNIQUE INDEX "transactions_auth_token_key" ON "transactions"("auth_token");

-- CreateIndex
CREATE INDEX "transactions_expires_at_idx" ON "transactions"("expires_at");

-- CreateIndex
CREATE INDEX "transactions_inbox_uid_idx" ON "transactions"("inbox_uid");

-- CreateIndex
CREATE INDEX "transactions_organization_id_idx" ON "transactions"("organization_id");

-- CreateIndex
CREATE INDEX "enrollments_expires_at_idx" ON "enrollments"("expires_at");

-- CreateIndex
CREATE INDEX "enrollments_inbox_uid_idx" ON "enrollments"("inbox_uid");

-- CreateIndex
CREATE INDEX "enrollments_organization_id_idx" ON "enrollments"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "enrollments_api_key_id_key" ON "enrollments"("api_key_id");

-- CreateIndex
CREATE INDEX "consents_inbox_uid_idx" ON "consents"("inbox_uid");

-- CreateIndex
CREATE INDEX "consents_organization_id_idx" ON "consents"("organization_id");

-- CreateIndex
CREATE INDEX "consents_used_at_idx" ON "consents"("used_at");

-- CreateIndex
CREATE UNIQUE INDEX "owner_approvals_token_hash_key" ON "owner_approvals"("token_hash");

-- CreateIndex
CREATE INDEX "owner_approvals_expires_at_idx" ON "owner_approvals"("expires_at");

-- CreateIndex
CREATE INDEX "owner_approvals_inbox_uid_idx" ON "owner_approvals"("inbox_uid");

-- CreateIndex
CREATE INDEX "owner_approvals_organization_id_created_at_idx" ON "owner_approvals"("organization_id", "created_at");

-- CreateIndex
CREATE INDEX "owner_mails_organization_id_created_at_idx" ON "owner_mails"("organization_id", "created_at");

-- CreateIndex
CREATE INDEX "owner_mails_created_at_idx" ON "owner_mails"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "codes_jti_key" ON "codes"("jti");

-- CreateIndex
CREATE INDEX "codes_expires_at_idx" ON "codes"("expires_at");

-- CreateIndex
CREATE INDEX "codes_inbox_uid_idx" ON "codes"("inbox_uid");

-- CreateIndex
CREATE INDEX "codes_organization_id_idx" ON "codes"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "access_tokens_code_hash_key" ON "access_tokens"("code_hash");

-- CreateIndex
CREATE INDEX "access_tokens_expires_at_idx" ON "access_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "access_tokens_inbox_uid_idx" ON "access_tokens"("inbox_uid");

-- CreateIndex
CREATE INDEX "access_tokens_organization_id_idx" ON "access_tokens"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "signing_keys_active_from_key" ON "signing_keys"("active_from");

-- CreateIndex
CREATE INDEX "exchange_counts_minute_idx" ON "exchange_counts"("minute");

-- AddForeignKey
ALTER TABLE "app_secrets" ADD CONSTRAINT "app_secrets_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "apps"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_up_limits" ADD CONSTRAINT "sign_up_limits_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "apps"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ranks" ADD CONSTRAINT "ranks_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "rank_snapshots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_app_id_fkey" FOREIGN KEY ("app_id") REFERENCES "apps"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
