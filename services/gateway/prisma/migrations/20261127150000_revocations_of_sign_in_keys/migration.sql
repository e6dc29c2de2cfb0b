ALTER TABLE "organizations" ADD COLUMN     "sign_in_generation" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "sign_in_key_revocations" (
    "organization_id" UUID NOT NULL,
    "idempotency_key" UUID NOT NULL,
    "pod_id" UUID,
    "inbox_uid" UUID,
    "generation" INTEGER NOT NULL,
    "revoked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_key_revocations_pkey" PRIMARY KEY ("organization_id", "idempotency_key")
);
