-- unused since 0.1.0: the columns that the check restricts
ALTER TABLE "organizations" ADD COLUMN     "human_name" TEXT;

-- The release before shows a sign-in key by the columns of a registered key, which hold a key that nothing can sign with.
ALTER TABLE "credentials" ADD COLUMN     "sign_in_status" TEXT,
ADD COLUMN     "sign_in_key" JSONB,
ADD COLUMN     "sign_in_fingerprint" TEXT;
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_sign_in_check" CHECK (CASE "sign_in_status"
    WHEN 'pending' THEN "type" = 'public_key' AND "tier" = 'inbox' AND "expires_at" IS NOT NULL
        AND num_nonnulls("sign_in_key", "sign_in_fingerprint") = 0
    WHEN 'active' THEN "type" = 'public_key' AND "tier" = 'inbox' AND "expires_at" IS NOT NULL
        AND num_nonnulls("sign_in_key", "sign_in_fingerprint") = 2
    ELSE num_nonnulls("sign_in_status", "sign_in_key", "sign_in_fingerprint") = 0 END) NOT VALID;

CREATE TABLE "counted_sign_in_keys" (
    "credential_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "created_by" UUID NOT NULL,
    "minted_at" TIMESTAMPTZ(3) NOT NULL,
    "activated_at" TIMESTAMPTZ(3),

    CONSTRAINT "counted_sign_in_keys_pkey" PRIMARY KEY ("credential_id")
);
CREATE INDEX "counted_sign_in_keys_created_by_minted_at_idx" ON "counted_sign_in_keys"("created_by", "minted_at");
CREATE INDEX "counted_sign_in_keys_organization_id_minted_at_idx" ON "counted_sign_in_keys"("organization_id", "minted_at");
CREATE INDEX "counted_sign_in_keys_minted_at_idx" ON "counted_sign_in_keys"("minted_at");
