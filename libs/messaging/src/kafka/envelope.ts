import { isSpanContextValid, type Link, type SpanContext, trace } from '@opentelemetry/api'
import {
  type DomainEvent,
  type EventOf,
  type EventRouting,
  isEventOf,
  type TopicDefinition,
} from '@restante/contracts/events'
import type { RecordPosition } from './position.ts'

/** Headers of a record as text: what the outbox stores and Kafka carries. */
export type HeaderMap = Readonly<Record<string, string>>

/** One event as stored in Kafka: the facts of its headers, and its JSON value, not decoded. */
export interface RecordedEvent {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly key: string
  readonly time: Date
  readonly routing: EventRouting
  /** The JSON payload, byte for byte as the producer wrote it. */
  readonly value: Buffer
  readonly headers: HeaderMap
  /** Where it is kept, for as long as its topic keeps records. */
  readonly position: RecordPosition
}

/** A record that no version of its topic's definition could have written. Retrying cannot help. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError'
}

/** CloudEvents 1.0 in Kafka's binary mode, plus the routing extensions and the trace of the work that raised it. */
export function encodeHeaders(source: string, event: Omit<DomainEvent, 'payload' | 'key'>): HeaderMap {
  const { organizationId, podId, inboxUid, restricted } = event.routing
  const traceparent = currentTraceparent()
  return {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.type,
    ce_source: source,
    ce_time: event.time.toISOString(),
    ce_subject: event.subject,
    'content-type': 'application/json',
    ce_organizationid: organizationId,
    ...(podId !== undefined && { ce_podid: podId }),
    ...(inboxUid !== undefined && { ce_inboxuid: inboxUid }),
    ...(restricted !== undefined && restricted.length > 0 && { ce_restricted: restricted.join(',') }),
    ...(traceparent !== undefined && { traceparent }),
  }
}

interface RawRecord extends RecordPosition {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: HeaderMap
}

/**
 * Reads the envelope without decoding the value. @throws InvalidRecordError when it is not an envelope of this system.
 */
export function readEnvelope(record: RawRecord): RecordedEvent {
  const { headers, topic, partition, offset } = record
  const required = (name: string): string => {
    const value = headers[name]
    if (value === undefined || value === '') throw new InvalidRecordError(`the header ${name} is missing`)
    return value
  }
  if (record.value === null) throw new InvalidRecordError('the record has no value')
  const time = new Date(required('ce_time'))
  if (Number.isNaN(time.getTime())) throw new InvalidRecordError('the header ce_time is not a time')
  const restricted = headers['ce_restricted']
  return {
    id: required('ce_id'),
    type: required('ce_type'),
    subject: headers['ce_subject'] ?? '',
    key: record.key?.toString() ?? '',
    time,
    routing: {
      organizationId: required('ce_organizationid'),
      ...(headers['ce_podid'] !== undefined && { podId: headers['ce_podid'] }),
      ...(headers['ce_inboxuid'] !== undefined && { inboxUid: headers['ce_inboxuid'] }),
      ...(restricted !== undefined && { restricted: restricted.split(',') }),
    },
    value: record.value,
    headers,
    position: { topic, partition, offset },
  }
}

/**
 * Decodes the value of an event and validates it against its type.
 * @throws InvalidRecordError that names what is wrong and where, never the value itself.
 */
export function decodeEvent<T extends TopicDefinition>(
  topic: T,
  recorded: Omit<RecordedEvent, 'position'>,
): EventOf<T> {
  const definition = topic.events[recorded.type]
  if (!definition) throw new InvalidRecordError(`the topic ${topic.name} has no type ${recorded.type}`)
  const parsed = definition.schema.safeParse(parseJson(recorded.value))
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.code}`)
    throw new InvalidRecordError(`the payload of ${recorded.type} is not valid: ${problems.join(', ')}`)
  }
  const { id, type, subject, key, time, routing } = recorded
  const event: DomainEvent = { id, type, subject, key, time, routing, payload: parsed.data }
  if (!isEventOf(topic, event)) throw new InvalidRecordError(`the topic ${topic.name} has no type ${recorded.type}`)
  return event
}

function parseJson(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString())
  } catch {
    throw new InvalidRecordError('the value is not JSON')
  }
}

function currentTraceparent(): string | undefined {
  const span = trace.getActiveSpan()?.spanContext()
  if (!span || !isSpanContextValid(span)) return undefined
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`
}

/** Links from the consumer's span to the producer's: work caused by it, in a trace of its own. */
export function traceLinks(headers: HeaderMap): Link[] {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(headers['traceparent'] ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return []
  const context: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(context) ? [{ context }] : []
}
