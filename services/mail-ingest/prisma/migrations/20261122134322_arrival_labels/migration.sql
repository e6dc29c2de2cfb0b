-- DropIndex
DROP INDEX "messages_inbox_uid_header_id_idx";

-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "arrival_labels" TEXT[];

-- CreateIndex
CREATE INDEX "messages_inbox_uid_header_id_id_idx" ON "messages"("inbox_uid", "header_id", "id");

-- CreateIndex
CREATE INDEX "messages_inbox_uid_digest_idx" ON "messages"("inbox_uid", "digest");
