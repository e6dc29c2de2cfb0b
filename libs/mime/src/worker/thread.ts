import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { readWithin } from '../read/read-mail.ts'
import type { ParserAnswer, ParserRequest } from './protocol.ts'
import { toSent } from './sent-mail.ts'

parentPort?.on('message', ({ raw, limits }: ParserRequest) => {
  const mail = readWithin(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), limits)
  // Freed explicitly: an idle thread collects no garbage, and this may be 40 MB of it.
  raw.buffer.transfer(0)
  answer({ mail: toSent(mail) })
})
// What only loading the parser needed goes back, half of what a thread holds by then; `service-node` lets it be called.
globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
answer({})

function answer(what: Pick<ParserAnswer, 'mail'>): void {
  const { user, system } = process.threadCpuUsage()
  const answered = { ...what, heap: getHeapStatistics().total_heap_size, cpuMs: (user + system) / 1_000 }
  parentPort?.postMessage(answered satisfies ParserAnswer)
}
