// Makes the statements that libraries make for this service's tables, for the check of all statements (tools/statements).
import '../src/tenancy/held-inboxes.ts'
import '../src/tenancy/purge.ts'
