import { parentPort } from 'node:worker_threads'
import type { ParseLimits } from '../parse/limits.ts'
import { readMail } from './read-mail.ts'

/** One mail for a parser thread; its bytes are moved, not copied. */
export interface ParserRequest {
  readonly raw: Uint8Array
  readonly limits: Partial<ParseLimits> | undefined
}

parentPort?.on('message', ({ raw, limits }: ParserRequest) => {
  parentPort?.postMessage(readMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), limits))
})
