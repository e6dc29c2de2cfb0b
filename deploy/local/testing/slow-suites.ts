/**
 * Suites of `npm run test:slow`, each with the reason: processes are killed, peers hang, engines go down, or a whole system starts.
 * `npm test` leaves them out, unless a path names them, so that it takes less than a quarter of an hour on two cores.
 */
export const SLOW_SUITES: ReadonlyMap<string, string> = new Map([
  [
    'test-e2e/own-system/own-system.e2e.test.ts',
    'starts a whole system, fills it with the largest mails and threads, and kills each service',
  ],
  [
    'test-e2e/operations/check.e2e.test.ts',
    'starts a whole system, and reads topics again for each check of lost events',
  ],
  ['test-e2e/faults/one-installation.alone.test.ts', 'starts engines and a system, and waits out three outages'],
  [
    'test-e2e/faults/interrupted.test.ts',
    'starts engines and a service for each signal, and waits until nothing of them is left',
  ],
  ['test-e2e/hostile-http/slow-peers.e2e.test.ts', 'waits for the timeouts that end slow connections'],
  [
    'services/gateway/test/organizations/organizations-delete.test.ts',
    'deletes organizations while the gateway that does it is killed again and again',
  ],
  ['services/mail-ingest/test/hostile/process.test.ts', 'sends floods and the largest mails to a process of its own'],
  ['services/mail-ingest/test/hostile/slow-peers.test.ts', 'waits for the timeouts that end slow SMTP sessions'],
  ['services/mail-ingest/test/pipeline/waiting-mail.test.ts', 'lets DNS time out, and has 10,000 mails wait'],
  [
    'services/mail-ingest/test/faults/parser-killers.test.ts',
    'kills parser threads and processes, three times for each mail',
  ],
  ['services/mail-ingest/test/faults/slow-mail.test.ts', 'reads mails that use up the whole time of each attempt'],
  [
    'services/mail-ingest/test/tenancy/purge.test.ts',
    'fills inboxes and deletes them while parts of the deletion fail',
  ],
  ['services/mail-ingest/test/sender/sender-judge.test.ts', 'judges generated mails, with the processor time of each'],
  [
    'services/mail-send/test/delivery/hostile/misbehaviour.test.ts',
    'waits for the timeouts that end sessions, for each way to fail',
  ],
  [
    'services/mail-send/test/delivery/destinations/slow-destinations.test.ts',
    'waits until servers that hang are known as slow, and for messages that are spread over time',
  ],
  [
    'services/mail-send/test/delivery/scanning/virus-scan.test.ts',
    'waits for the retries of messages while clamd is down, or fails',
  ],
  ['services/mail-send/test/crashes.test.ts', 'kills processes while they send, and waits until their leases end'],
  ['services/mail-send/test/killed/killed.test.ts', 'kills a process of its own while it sends, and starts it again'],
  [
    'services/metrics/test/rebuild/rebuild.test.ts',
    'starts two processes, kills one of them, and waits until its place in a consumer group is free',
  ],
  [
    'services/metrics/test/history/history.test.ts',
    'kills processes, and waits until their partitions and the lease of a rebuild belong to another',
  ],
  ['services/websocket-fanout/test/lifetime.test.ts', 'waits for the timeouts that end silent streams'],
  ['services/calendar/test/boundaries/replicas.test.ts', 'has processes compete for timers, and kills one'],
  [
    'libs/messaging/test/consumer/rebalance.test.ts',
    'moves partitions between consumers, and waits out the session of one that was killed',
  ],
  [
    'libs/messaging/test/overtaking/overtaking.test.ts',
    'writes thousands of events for each case, and waits out the session of a consumer that was killed',
  ],
  ['libs/jobs/test/outages/outages.test.ts', 'freezes Redis, and waits out leases'],
])
