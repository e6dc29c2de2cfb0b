-- Without foreign keys: the log outlives the organizations and credentials that it tells of.
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
