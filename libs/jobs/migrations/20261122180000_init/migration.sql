-- Timers: work that is due at a time. PostgreSQL decides when it runs.
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
