-- CreateTable
CREATE TABLE "invitation_charges" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "charged_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invitation_charges_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "invitation_charges_organization_id_idx" ON "invitation_charges"("organization_id");

-- CreateIndex
CREATE INDEX "invitation_charges_charged_at_idx" ON "invitation_charges"("charged_at");
