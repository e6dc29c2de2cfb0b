-- outside a transaction
-- Finds the message of an attachment in a thread of any length.
DROP INDEX CONCURRENTLY IF EXISTS "messages_attachments";
CREATE INDEX CONCURRENTLY "messages_attachments" ON "messages" USING GIN (jsonb_path_query_array("attachments", '$[*].attachment_id'))
  WHERE "attachments" <> '[]';
