-- outside a transaction
-- Messages whose html is searched in place of an absent or blank text, and that are stored without its words. The indexer
-- reads them; there are none beside those of release 0.1.0.
DROP INDEX CONCURRENTLY IF EXISTS "message_bodies_unread_html";
CREATE INDEX CONCURRENTLY "message_bodies_unread_html" ON "message_bodies" ("id")
  WHERE html is not null and search_text is null
   and (text is null or octet_length(text) <= 1000 and btrim(text, E'\t\n\x0b\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff') = '');
