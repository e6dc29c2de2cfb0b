-- CreateTable
CREATE TABLE "mta_sts_policies" (
    "domain" TEXT NOT NULL,
    "policy_id" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "hosts" TEXT[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mta_sts_policies_pkey" PRIMARY KEY ("domain")
);

-- CreateIndex
CREATE INDEX "mta_sts_policies_expires_at_idx" ON "mta_sts_policies"("expires_at");
