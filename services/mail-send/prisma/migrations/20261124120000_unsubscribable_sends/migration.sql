ALTER TABLE "sends" ADD COLUMN "unsubscribable" BOOLEAN NOT NULL DEFAULT false;
