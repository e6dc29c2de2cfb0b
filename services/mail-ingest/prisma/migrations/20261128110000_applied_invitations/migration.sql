-- The event, or the date of one, that the calendar file of a received message was applied to.
ALTER TABLE "messages" ADD COLUMN "calendar_event_id" TEXT;
