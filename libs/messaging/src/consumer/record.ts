import type { KafkaMessage } from 'kafkajs'
import type { HeaderMap } from '../envelope.ts'

/** One record as it was fetched. */
export interface ConsumedRecord {
  readonly partition: number
  readonly offset: number
  /** When the producer wrote it, in milliseconds since 1970. */
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: HeaderMap
}

/** Offsets are numbers here: 2^53 records are further away than any partition will get. */
export function toRecord(partition: number, message: KafkaMessage): ConsumedRecord {
  return {
    partition,
    offset: Number(message.offset),
    timestamp: Number(message.timestamp),
    key: message.key,
    value: message.value,
    headers: textHeaders(message.headers),
  }
}

/** Header values as text; of a repeated header the first. */
export function textHeaders(headers: KafkaMessage['headers']): HeaderMap {
  const text: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined) text[name] = first.toString()
  }
  return text
}
