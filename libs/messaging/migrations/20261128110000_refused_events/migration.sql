-- outside a transaction
-- Refused events are counted and looked for every few seconds, also while Kafka is away and the unpublished ones are many.
DROP INDEX CONCURRENTLY IF EXISTS "outbox_refused";
CREATE INDEX CONCURRENTLY "outbox_refused" ON "outbox"("position") WHERE "refused" IS NOT NULL;
