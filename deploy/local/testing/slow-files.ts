/**
 * Test files that may take longer than the budget of `npm test`, each with the reason. Files that take 15 s when they run
 * beside others on two cores are named too: a slower machine must not fail the run.
 */
export const SLOW_FILES: ReadonlyMap<string, string> = new Map([
  [
    'services/metrics/test/rebuild/rebuild.test.ts',
    'starts two processes, kills one of them, and waits until its place in a consumer group is free',
  ],
  ['services/metrics/test/rebuild/deletion.test.ts', 'reads the topics in two rebuilds, and purges beside them'],
  ['services/metrics/test/comparison/comparison.test.ts', 'measures each difference several times, with pauses'],
  [
    'test-e2e/operations/check.e2e.test.ts',
    'starts a whole system, and reads topics again for each check of lost events',
  ],
  [
    'test-e2e/own-system/own-system.e2e.test.ts',
    'starts a whole system, fills it with the largest mails and threads, and kills each service',
  ],
  ['test-e2e/faults/one-installation.alone.test.ts', 'starts engines and a system, and waits out three outages'],
  [
    'services/metrics/test/history/history.test.ts',
    'kills processes, and waits until their partitions and the lease of a rebuild belong to another',
  ],
  ['test-e2e/api/access.e2e.test.ts', 'sends a request for every operation, scope and kind of credential'],
  ['test-e2e/mcp/access.e2e.test.ts', 'calls every tool with each kind of key, and creates what each call uses up'],
  ['test-e2e/mcp/tools.e2e.test.ts', 'calls every tool, and waits for mail, search and the text of documents'],
  [
    'test-e2e/mcp/guide/guide-mcp.e2e.test.ts',
    'starts every server that the guide names, and has two agents answer mail',
  ],
  ['test-e2e/mcp/clients/python.e2e.test.ts', 'calls every tool twice, each in turn'],
  ['test-e2e/api/conventions.e2e.test.ts', 'walks through every list, and sends requests to every operation'],
  ['test-e2e/python/sdk-python.e2e.test.ts', 'calls every operation of the Python client, each in turn'],
  ['test-e2e/guides.e2e.test.ts', 'runs every example of the guides, with the Python client too'],
  [
    'libs/messaging/test/consumer/rebalance.test.ts',
    'moves partitions between consumers, and waits out the session of one that was killed',
  ],
  [
    'libs/messaging/test/overtaking/overtaking.test.ts',
    'writes thousands of events for each case, and waits out the session of a consumer that was killed',
  ],
  ['test-e2e/mail/send.e2e.test.ts', 'sends mail to servers that defer it, and waits for the attempts that follow'],
  ['test-e2e/hostile-http/fuzz.alone.test.ts', 'makes 2,500 requests beside another file'],
  ['services/mail-ingest/test/smtp/smtp.test.ts', 'waits, once for each case, until answers about recipients are old'],
  ['test-e2e/hostile-http/slow-peers.e2e.test.ts', 'waits for the timeouts that end slow connections'],
  [
    'services/mail-send/test/delivery/destinations/slow-destinations.test.ts',
    'waits until servers that hang are known as slow, and for messages that are spread over time',
  ],
  ['services/mail-ingest/test/faults/slow-mail.test.ts', 'reads mails that use up the whole time of each attempt'],
  ['services/mail-ingest/test/hostile/process.test.ts', 'sends floods and the largest mails to a process of its own'],
  ['services/mail-ingest/test/hostile/slow-peers.test.ts', 'waits for the timeouts that end slow SMTP sessions'],
  ['services/mail-ingest/test/pipeline/waiting-mail.test.ts', 'lets DNS time out, and has 10,000 mails wait'],
  [
    'services/mail-ingest/test/faults/parser-killers.test.ts',
    'kills parser threads and processes, three times for each mail',
  ],
  [
    'services/mail-ingest/test/tenancy/purge.test.ts',
    'fills inboxes and deletes them while parts of the deletion fail',
  ],
  ['services/mail-ingest/test/sender/sender-judge.test.ts', 'judges generated mails, with the processor time of each'],
  [
    'services/mail-ingest/test/attachment-texts/attachment-texts.test.ts',
    'receives mails for each case, and starts threads to read their documents',
  ],
  ['services/mail-ingest/test/search/message-search.test.ts', 'receives mails for each case, one after another'],
  ['services/mail-ingest/test/search/frequent-words.test.ts', 'stores and indexes thousands of messages'],
  ['services/mail-ingest/test/search/every-result.test.ts', 'stores and indexes thousands of messages'],
  [
    'services/mail-send/test/delivery/scanning/virus-scan.test.ts',
    'waits for the retries of messages while clamd is down, or fails',
  ],
  [
    'services/mail-ingest/test/operator/operator-mail.test.ts',
    'starts two installations, and waits until mail-send answers again',
  ],
  ['services/mail-send/test/killed/killed.test.ts', 'kills a process of its own while it sends, and starts it again'],
  [
    'services/mail-send/test/delivery/hostile/refusals.test.ts',
    'sends two messages for each enhanced status code, refused at each stage',
  ],
  [
    'services/mail-send/test/delivery/hostile/misbehaviour.test.ts',
    'waits for the timeouts that end sessions, for each way to fail',
  ],
  ['services/mail-send/test/crashes.test.ts', 'kills processes while they send, and waits until their leases end'],
  [
    'services/gateway/test/organizations/organizations-delete.test.ts',
    'deletes organizations while the gateway that does it is killed again and again',
  ],
  ['services/gateway/test/organizations/admin.test.ts', "runs the operator's commands, each in a process of its own"],
  ['services/gateway/test/agents/agents.test.ts', 'walks through every answer of sign-up and verification'],
  ['services/gateway/test/agents/races/agents-parallel.test.ts', 'signs up and verifies many agents at once'],
  ['services/websocket-fanout/test/lifetime.test.ts', 'waits for the timeouts that end silent streams'],
  [
    'libs/mime/test/documents/hostile.test.ts',
    'reads documents that inflate, never end or are damaged, up to their limits',
  ],
  ['libs/mime/test/hostile/hostile.test.ts', 'reads hostile mails, cut off at every length'],
  ['tools/test/statements.test.ts', 'loads every service, and has PostgreSQL describe each of its statements'],
  ['tools/test/migrations.test.ts', 'migrates every service into a database of its own'],
  ['test-e2e/sign-in/link.e2e.test.ts', 'signs in by links in a browser, each in a profile of its own'],
  ['test-e2e/sign-in/waiting.e2e.test.ts', 'signs in from an app in a browser, and waits for mail to owners'],
  ['test-e2e/sign-in/pages.e2e.test.ts', 'looks at every page of sign-in on each screen'],
])
