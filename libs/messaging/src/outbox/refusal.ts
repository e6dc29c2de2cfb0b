/** Answers of a broker that say no to these very bytes, now and at every later time. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'POLICY_VIOLATION',
])

/** kafkajs wraps a broker's answer as often as it has tried; the answer carries its name as `type`. */
function brokerAnswer(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('type' in error && typeof error.type === 'string') return error.type
  return brokerAnswer(error.cause)
}

/** Whether a broker answered at all, so that the failure may belong to one topic or record and not to the cluster. */
export function isTopicFault(error: unknown): boolean {
  return brokerAnswer(error) !== undefined
}

/** Whether Kafka refuses a record for good. Everything else is worth another try, for ever. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(brokerAnswer(error) ?? '')
}
