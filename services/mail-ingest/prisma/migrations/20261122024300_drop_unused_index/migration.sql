-- Purges look for what is due, by "deleted_inboxes_unpurged"; tombstones end by "deleted_inboxes_deleted_at_idx".
DROP INDEX "deleted_inboxes_to_purge";
