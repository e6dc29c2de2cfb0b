-- Of a disabled webhook without ids it is not known whether it once had some: it must not widen.
ALTER TABLE "webhooks" ADD COLUMN "is_filtered" BOOLEAN NOT NULL DEFAULT true;
UPDATE "webhooks" SET "is_filtered" = false
 WHERE "enabled" AND "pod_id" IS NULL AND cardinality("pod_ids") = 0 AND cardinality("inbox_uids") = 0;
ALTER TABLE "webhooks" ALTER COLUMN "is_filtered" DROP DEFAULT;
