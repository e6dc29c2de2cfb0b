-- Due timers of a kind are leased from its shares in rotation.
ALTER TABLE "timers" ADD COLUMN "share" SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX "timers_kind_share_due_at_idx" ON "timers"("kind", "share", "due_at");
