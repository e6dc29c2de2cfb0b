/**
 * Test files that may take longer than the budget of `npm test`, each with the reason. Files that take 15 s when they run
 * beside others on two cores are named too: a slower machine must not fail the run.
 */
export const SLOW_FILES: ReadonlyMap<string, string> = new Map([
  ['services/metrics/test/rebuild/deletion.test.ts', 'reads the topics in two rebuilds, and purges beside them'],
  ['services/metrics/test/comparison/comparison.test.ts', 'measures each difference several times, with pauses'],
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
  ['test-e2e/mail/send.e2e.test.ts', 'sends mail to servers that defer it, and waits for the attempts that follow'],
  ['test-e2e/hostile-http/fuzz.alone.test.ts', 'makes 2,500 requests beside another file'],
  ['services/mail-ingest/test/smtp/smtp.test.ts', 'waits, once for each case, until answers about recipients are old'],
  [
    'services/mail-ingest/test/attachment-texts/attachment-texts.test.ts',
    'receives mails for each case, and starts threads to read their documents',
  ],
  ['services/mail-ingest/test/search/message-search.test.ts', 'receives mails for each case, one after another'],
  ['services/mail-ingest/test/search/frequent-words.test.ts', 'stores and indexes thousands of messages'],
  ['services/mail-ingest/test/search/every-result.test.ts', 'stores and indexes thousands of messages'],
  [
    'services/mail-ingest/test/operator/operator-mail.test.ts',
    'starts two installations, and waits until mail-send answers again',
  ],
  [
    'services/mail-send/test/delivery/hostile/refusals.test.ts',
    'sends two messages for each enhanced status code, refused at each stage',
  ],
  ['services/gateway/test/organizations/admin.test.ts', "runs the operator's commands, each in a process of its own"],
  ['services/gateway/test/agents/agents.test.ts', 'walks through every answer of sign-up and verification'],
  ['services/gateway/test/agents/races/agents-parallel.test.ts', 'signs up and verifies many agents at once'],
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
