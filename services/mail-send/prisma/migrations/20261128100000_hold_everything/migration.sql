-- A hold without an organization and a destination keeps all mail back, while a restored database is compared. Services of
-- 0.1.0 obey such a row as well.
-- unused since 0.1.0: delivery_holds_scope
ALTER TABLE "delivery_holds" DROP CONSTRAINT "delivery_holds_scope";
