-- What a credential is bound to cannot go before it: none is ever bound to something wider instead.
ALTER TABLE "credentials" DROP CONSTRAINT "credentials_inbox_uid_fkey";

ALTER TABLE "credentials" ADD CONSTRAINT "credentials_pod_id_fkey" FOREIGN KEY ("pod_id") REFERENCES "pods"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_inbox_uid_fkey" FOREIGN KEY ("inbox_uid") REFERENCES "inboxes"("uid") ON DELETE RESTRICT ON UPDATE CASCADE;
