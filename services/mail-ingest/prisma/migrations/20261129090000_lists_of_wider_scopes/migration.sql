-- outside a transaction
-- The default view of organizations and pods: what is hidden may be newer than all that is shown.
DROP INDEX CONCURRENTLY IF EXISTS "threads_default_view_of_pod";
CREATE INDEX CONCURRENTLY "threads_default_view_of_pod" ON "threads" ("pod_id", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);
DROP INDEX CONCURRENTLY IF EXISTS "threads_default_view_of_organization";
CREATE INDEX CONCURRENTLY "threads_default_view_of_organization" ON "threads" ("organization_id", "timestamp", "id")
  WHERE NOT ("labels" && ARRAY['spam', 'blocked', 'unauthenticated', 'trash']);

-- Filters of an inbox or pod need not look at what matches elsewhere in the organization.
-- unused since 0.1.0: threads_filters, in whose place the new index serves the statements of that release, too
DROP INDEX CONCURRENTLY IF EXISTS "threads_filters_in_scope";
CREATE INDEX CONCURRENTLY "threads_filters_in_scope" ON "threads" USING GIN ("organization_id" uuid_ops, "pod_id" uuid_ops, "inbox_uid" uuid_ops, "labels", "sender_lines" gin_trgm_ops, "recipient_lines" gin_trgm_ops, "subject" gin_trgm_ops);
DROP INDEX CONCURRENTLY IF EXISTS "threads_filters";
