-- CreateTable
CREATE TABLE "signature_nonces" (
    "credential_id" UUID NOT NULL,
    "nonce" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "signature_nonces_pkey" PRIMARY KEY ("credential_id","nonce")
);

-- CreateIndex
CREATE INDEX "signature_nonces_used_at_idx" ON "signature_nonces"("used_at");
