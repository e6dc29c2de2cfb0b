-- CreateTable
CREATE TABLE "attachment_texts" (
    "message_uid" UUID NOT NULL,
    "attachment_id" UUID NOT NULL,
    "organization_id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_id" UUID,
    "reason" TEXT,
    "text" TEXT,

    CONSTRAINT "attachment_texts_pkey" PRIMARY KEY ("message_uid","attachment_id")
);

-- AddForeignKey
ALTER TABLE "attachment_texts" ADD CONSTRAINT "attachment_texts_message_uid_fkey" FOREIGN KEY ("message_uid") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;
-- Below: what schema.prisma cannot express.

-- The documents that wait, of each organization in their order. Texts that are read are far more, and in no index.
CREATE INDEX "attachment_texts_waiting" ON "attachment_texts" ("organization_id", "position") WHERE "state" = 'waiting';

-- The attachments of messages that are stored already.
INSERT INTO "attachment_texts" ("message_uid", "attachment_id", "organization_id")
SELECT "id", "attachment_id", "organization_id"
  FROM (SELECT "messages"."id", ("listed"."attachment" ->> 'attachment_id')::uuid AS "attachment_id", "organization_id",
               row_number() OVER (PARTITION BY "messages"."id" ORDER BY "ordinal") AS "number"
          FROM "messages", jsonb_array_elements("attachments") WITH ORDINALITY AS "listed"("attachment", "ordinal")
         WHERE ("listed"."attachment" ->> 'size')::bigint BETWEEN 1 AND 26214400
           AND ("listed"."attachment" ->> 'content_type') !~* '^(image|audio|video)/') AS "readable"
 WHERE "number" <= 20;
