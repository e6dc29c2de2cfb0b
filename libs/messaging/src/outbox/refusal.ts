/** Broker errors that reject exactly these bytes, now and at any later time. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'POLICY_VIOLATION',
])

/** kafkajs wraps a broker's error once per retry; the innermost one carries its name as `type`. */
function brokerAnswer(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('type' in error && typeof error.type === 'string') return error.type
  return brokerAnswer(error.cause)
}

/** Whether a broker answered at all, so that the failure may belong to one topic or record and not to the cluster. */
export function isTopicFault(error: unknown): boolean {
  return brokerAnswer(error) !== undefined
}

/** Whether Kafka rejects a record permanently. Everything else is retried without limit. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(brokerAnswer(error) ?? '')
}
