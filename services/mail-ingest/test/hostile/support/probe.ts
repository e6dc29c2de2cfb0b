import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** How long the worst of many answers took, in milliseconds. */
export interface ProbeResult {
  readonly asked: number
  readonly worstCommand: number
  readonly worstGreeting: number
  readonly worstHealth: number
  /** The longest time for which the machine did not let the one who asks go on. */
  readonly longestPause: number
}

const EVERY_MS = 50
const { smtpPort, url }: { smtpPort: number; url: string } = workerData
const result = { asked: 0, worstCommand: 0, worstGreeting: 0, worstHealth: 0, longestPause: 0 }
let isOver = false

parentPort?.once('message', () => {
  isOver = true
})

/** Resolves to the time from `ask` to the next answer. */
function timed(ask: () => void, answer: (done: () => void) => void): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve) => {
    answer(() => resolve(performance.now() - begun))
    ask()
  })
}

/** A new connection for every twenty commands, so that both greeting and commands are seen. */
async function askSmtp(): Promise<void> {
  do {
    const socket = connect({ port: smtpPort, host: '127.0.0.1', localAddress: '127.0.0.99' })
    const next = (done: () => void) => socket.once('data', done)
    const greeting = await timed(() => {}, next)
    result.worstGreeting = Math.max(result.worstGreeting, greeting)
    for (let count = 0; count < 20 && !isOver; count++) {
      const time = await timed(() => socket.write('NOOP\r\n'), next)
      result.worstCommand = Math.max(result.worstCommand, time)
      result.asked++
      await wait(EVERY_MS)
    }
    socket.destroy()
  } while (!isOver)
}

async function askHealth(): Promise<void> {
  do {
    const begun = performance.now()
    const response = await fetch(`${url}/healthz`)
    await response.arrayBuffer()
    result.worstHealth = Math.max(result.worstHealth, performance.now() - begun)
    result.asked++
    await wait(EVERY_MS)
  } while (!isOver)
}

/** Notices how late a timer is. */
async function watchMachine(): Promise<void> {
  while (!isOver) {
    const begun = performance.now()
    await wait(EVERY_MS)
    result.longestPause = Math.max(result.longestPause, performance.now() - begun - EVERY_MS)
  }
}

// Once to load what asking takes; that is not the time of who answers.
await fetch(`${url}/healthz`)
parentPort?.postMessage('ready')
await Promise.all([askSmtp(), askHealth(), watchMachine()])
parentPort?.postMessage(result)
