-- What a webhook matched before its last changes.
ALTER TABLE "webhooks" ADD COLUMN     "earlier_rules" JSONB NOT NULL DEFAULT '[]';
