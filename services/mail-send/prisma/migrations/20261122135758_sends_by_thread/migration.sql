-- CreateIndex
CREATE INDEX "sends_thread_id_idx" ON "sends"("thread_id");
