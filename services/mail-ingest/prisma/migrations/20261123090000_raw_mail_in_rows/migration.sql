-- AlterTable
ALTER TABLE "raw_mails" ADD COLUMN "content" BYTEA;

-- Out of line, so that a changed reference count does not copy the bytes; uncompressed, because most mail is text that
-- the database stores a second time anyway, and compression costs more time than the write.
ALTER TABLE "raw_mails" ALTER COLUMN "content" SET STORAGE EXTERNAL;
