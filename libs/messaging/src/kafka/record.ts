import type { KafkaMessage } from 'kafkajs'
import type { HeaderMap } from './envelope.ts'
import type { RecordPosition } from './position.ts'

/** One record as it was fetched. */
export interface ConsumedRecord extends RecordPosition {
  /** When the producer wrote it, in milliseconds since 1970. */
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: HeaderMap
}

/** Offsets are numbers here: no partition will ever reach 2^53 records. */
export function toRecord(topic: string, partition: number, message: KafkaMessage): ConsumedRecord {
  return {
    topic,
    partition,
    offset: Number(message.offset),
    timestamp: Number(message.timestamp),
    key: message.key,
    value: message.value,
    headers: textHeaders(message.headers),
  }
}

/** Header values as text; the first value of a repeated header. */
export function textHeaders(headers: KafkaMessage['headers']): HeaderMap {
  const text: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) text[name] = first.toString()
  }
  return text
}
