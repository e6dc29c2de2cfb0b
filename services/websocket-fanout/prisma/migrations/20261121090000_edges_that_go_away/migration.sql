-- Entries about an edge that goes away concern streams of many organizations.
ALTER TABLE "stream_log" ALTER COLUMN "organization_id" DROP NOT NULL;
