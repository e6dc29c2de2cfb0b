import { parentPort } from 'node:worker_threads'
import { type ParserRequest, READY } from './protocol.ts'
import { readWithin } from './read-mail.ts'

parentPort?.on('message', ({ raw, limits }: ParserRequest) => {
  parentPort?.postMessage(readWithin(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), limits))
})
parentPort?.postMessage(READY)
