-- outside a transaction
-- unused since 0.1.0: sign_in_fingerprint
DROP INDEX CONCURRENTLY IF EXISTS "credentials_fingerprint_idx";
CREATE INDEX CONCURRENTLY "credentials_fingerprint_idx" ON "credentials"("fingerprint");
DROP INDEX CONCURRENTLY IF EXISTS "credentials_sign_in_fingerprint_key";
CREATE UNIQUE INDEX CONCURRENTLY "credentials_sign_in_fingerprint_key" ON "credentials"("sign_in_fingerprint");
DROP INDEX CONCURRENTLY IF EXISTS "credentials_sign_in_pending";
CREATE INDEX CONCURRENTLY "credentials_sign_in_pending" ON "credentials"("created_by", "expires_at") WHERE "sign_in_status" = 'pending';
