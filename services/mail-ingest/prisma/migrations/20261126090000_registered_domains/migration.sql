-- Registrations are in `registered_domains`, which the library of domains brings. Nothing publishes them yet, so there are
-- no rows to keep.
DROP TABLE "domains";
