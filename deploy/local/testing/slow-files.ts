/** Test files that may take longer than the budget of `npm test`, each with the reason. */
export const SLOW_FILES: ReadonlyMap<string, string> = new Map([
  ['test-e2e/own-system.e2e.test.ts', 'starts a whole system, fills it with the largest mails and kills each service'],
  ['test-e2e/faults/one-installation.alone.test.ts', 'starts engines and a system, and waits out three outages'],
  [
    'test-e2e/faults/two-replicas.alone.test.ts',
    'starts two processes of each service and drains each for its full time',
  ],
])
