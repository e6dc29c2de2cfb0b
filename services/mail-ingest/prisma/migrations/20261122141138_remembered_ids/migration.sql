-- CreateTable
CREATE TABLE "remembered_ids" (
    "inbox_uid" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "thread_id" UUID NOT NULL,
    "domain" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "remembered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "remembered_ids_pkey" PRIMARY KEY ("inbox_uid","id","thread_id","domain")
);

-- CreateIndex
CREATE INDEX "remembered_ids_thread_id_position_idx" ON "remembered_ids"("thread_id", "position");

-- CreateIndex
CREATE INDEX "remembered_ids_remembered_at_idx" ON "remembered_ids"("remembered_at");

-- AddForeignKey
ALTER TABLE "remembered_ids" ADD CONSTRAINT "remembered_ids_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
