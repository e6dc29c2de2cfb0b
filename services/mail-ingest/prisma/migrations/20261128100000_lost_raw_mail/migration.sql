-- When the operator gave the bytes up, which the blob store does not have.
ALTER TABLE "raw_mails" ADD COLUMN "lost_at" TIMESTAMPTZ(3);
