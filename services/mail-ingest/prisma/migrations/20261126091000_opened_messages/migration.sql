-- When the image of a sent message was first loaded.
ALTER TABLE "messages" ADD COLUMN "opened_at" TIMESTAMPTZ(3);
