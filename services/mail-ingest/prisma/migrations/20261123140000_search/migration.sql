-- Terms are arrays of integers, which this extension indexes. It is trusted: the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS "intarray";

-- AlterTable
ALTER TABLE "message_bodies" ADD COLUMN "search_text" TEXT;

-- CreateTable
CREATE TABLE "searchable" (
    "id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "pod_id" UUID NOT NULL,
    "inbox_uid" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "timestamp" TIMESTAMPTZ(3) NOT NULL,
    "periods" INTEGER[] NOT NULL,
    "hidden" BOOLEAN NOT NULL,
    "subject" TEXT NOT NULL,
    "people" TEXT NOT NULL,
    "languages" TEXT[] NOT NULL,
    "terms" INTEGER[] NOT NULL,

    CONSTRAINT "searchable_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "unindexed_messages" (
    "id" UUID NOT NULL,

    CONSTRAINT "unindexed_messages_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "searchable_terms" ON "searchable" USING GIN ("organization_id" uuid_ops, "pod_id" uuid_ops, "inbox_uid" uuid_ops, "periods" gin__int_ops, "terms" gin__int_ops);

-- AddForeignKey
ALTER TABLE "searchable" ADD CONSTRAINT "searchable_id_fkey" FOREIGN KEY ("id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "unindexed_messages" ADD CONSTRAINT "unindexed_messages_id_fkey" FOREIGN KEY ("id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Below: what schema.prisma cannot express.

-- The newest messages of a scope are compared one by one.
CREATE INDEX "searchable_of_inbox" ON "searchable" ("inbox_uid", "timestamp", "id") WHERE NOT "hidden";
CREATE INDEX "searchable_of_pod" ON "searchable" ("pod_id", "timestamp", "id") WHERE NOT "hidden";
CREATE INDEX "searchable_of_organization" ON "searchable" ("organization_id", "timestamp", "id") WHERE NOT "hidden";

-- Rows are compared by their terms, so that they stay in the row as long as a page holds it; hashes do not compress.
ALTER TABLE "searchable" SET (toast_tuple_target = 8160);
ALTER TABLE "searchable" ALTER COLUMN "terms" SET STORAGE EXTERNAL;

-- The indexer writes in batches, and a search must not read a long list of entries that are not merged yet.
ALTER INDEX "searchable_terms" SET (gin_pending_list_limit = 1024);

-- The messages that are stored already.
INSERT INTO "unindexed_messages" ("id") SELECT "id" FROM "messages";
