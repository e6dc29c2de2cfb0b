-- CreateIndex
CREATE INDEX "sends_message_id_idx" ON "sends"("message_id");
