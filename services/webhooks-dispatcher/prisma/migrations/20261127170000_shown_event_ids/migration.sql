-- The `event_id` in the document, where it is no UUID.
ALTER TABLE "delivery_log" ADD COLUMN     "shown_event_id" TEXT;
