-- The domain of the envelope senders, of mail of a custom domain; and whether the message tells of its opening, and when it
-- did.
ALTER TABLE "sends" ADD COLUMN "return_path" TEXT,
ADD COLUMN "tracked" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "opened_at" TIMESTAMPTZ(3);
