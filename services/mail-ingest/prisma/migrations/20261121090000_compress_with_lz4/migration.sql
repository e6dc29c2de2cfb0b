-- Mail and its events are written once and read a few times: lz4 takes a fifth of the time of pglz, PostgreSQL's default.
-- Not every build of PostgreSQL has it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE "outbox" ALTER COLUMN "payload" SET COMPRESSION lz4;
    ALTER TABLE "message_bodies"
      ALTER COLUMN "text" SET COMPRESSION lz4,
      ALTER COLUMN "html" SET COMPRESSION lz4,
      ALTER COLUMN "extracted_text" SET COMPRESSION lz4,
      ALTER COLUMN "extracted_html" SET COMPRESSION lz4,
      ALTER COLUMN "headers" SET COMPRESSION lz4;
  END IF;
END $$;
