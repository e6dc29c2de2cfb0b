-- A hold without an organization and a destination keeps all mail back, while a restored database is compared.
ALTER TABLE "delivery_holds" DROP CONSTRAINT "delivery_holds_scope";
