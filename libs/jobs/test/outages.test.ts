import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { createLogger } from '@restante/service'
import { ago, at, effect, never, openDatabase, REDIS_URL, Stack, signal, until } from './stack.ts'

const FIXTURE = path.join(import.meta.dirname, 'fixtures', 'hanging-worker.ts')

/** The wire to Redis, which can be cut. */
class Wire {
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  port = 0

  async mend(): Promise<void> {
    const { hostname, port } = new URL(REDIS_URL)
    const server = createServer((near) => {
      const far = connect(Number(port), hostname)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {}).on('close', () => [near, far].map((end) => end.destroy()))
      }
      near.pipe(far).pipe(near)
    })
    this.#server = server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address !== null && typeof address === 'object') this.port = address.port
  }

  cut(): void {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }
}

describe('timers', () => {
  const stack = new Stack()
  const work = { concurrency: 5, leaseMs: 5_000, retry: never }

  beforeAll(() => stack.start())
  afterEach(() => stack.clear())
  afterAll(() => stack.stop())

  it('have one effect each with two processes that poll and work', async () => {
    const others = openDatabase(stack.url)
    const processes = [stack.timers(), stack.timers({}, others)]
    const began = [0, 0]
    for (const [index, timers] of processes.entries()) {
      timers.work('note', work, async ({ timer, run }) => {
        began[index] = (began[index] ?? 0) + 1
        await run((tx) => effect(tx, timer.key))
      })
      await timers.start()
    }
    const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`)
    const [first] = processes
    await stack.db.transaction(async (tx) =>
      first?.scheduleAll(
        tx,
        keys.map((key) => ({ kind: 'note' as const, key, payload: { text: key } })),
      ),
    )
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys.sort())
    expect((began[0] ?? 0) + (began[1] ?? 0)).toBe(300)
    expect(Math.min(...began)).toBeGreaterThan(0)
    await Promise.all(processes.map((timers) => timers.stop()))
    await others.stop()
  })

  it('survive a process that is killed in the middle of an attempt', async () => {
    const timers = stack.timers()
    await at(stack.db, timers, 'orphan')
    const child = spawn(process.execPath, [FIXTURE, stack.url, stack.prefix], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, `${timer.attempt}`))))
    await timers.start()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key)).toEqual(['2'])
  })

  it('survive the loss of every key in Redis, with one effect each', async () => {
    const timers = stack.timers({ queueLeaseMs: 500 })
    const [begun, flushed] = [signal(), signal()]
    timers.work('note', { ...work, concurrency: 1 }, async ({ timer, run }) => {
      begun.happen()
      await flushed.happened
      await run((tx) => effect(tx, timer.key))
    })
    await timers.start()
    const keys = ['a', 'b', 'c', 'd', 'e']
    for (const key of keys) await at(stack.db, timers, key, ago(0))
    await begun.happened
    await until(async () => (await stack.rows()).every(({ lease }) => lease !== null))
    expect(await stack.deleteKeys()).toBeGreaterThan(0)
    flushed.happen()
    await until(async () => (await stack.rows()).length === 0)
    expect((await stack.effects()).map(({ key }) => key).sort()).toEqual(keys)
  })

  it('wait in PostgreSQL while Redis is away, stay ready, say so once, and go on when it is back', async () => {
    const lines: string[] = []
    const log = createLogger({ service: 'jobs-test', level: 'silent' }).child({}, { level: 'warn' })
    log.warn = (...args: unknown[]) => void lines.push(String(args.at(-1)))
    const wire = new Wire()
    await wire.mend()
    const timers = stack.timers({ redis: { url: `redis://127.0.0.1:${wire.port}`, prefix: stack.prefix }, log })
    timers.work('note', work, async ({ timer, run }) => void (await run((tx) => effect(tx, timer.key))))
    await timers.start()
    await at(stack.db, timers, 'before')
    await until(async () => (await stack.effects()).length === 1)
    wire.cut()
    await until(() => lines.length > 0)
    await at(stack.db, timers, 'during')
    await expect(timers.ready()).resolves.toBeUndefined()
    expect((await stack.rows()).map(({ key, lease, attempt }) => ({ key, lease, attempt }))).toEqual([
      { key: 'during', lease: null, attempt: 0 },
    ])
    await wire.mend()
    await until(async () => (await stack.effects()).length === 2)
    expect(lines).toHaveLength(1)
    await timers.stop()
    wire.cut()
  })

  it('start and stop without Redis', async () => {
    const timers = stack.timers({ redis: { url: 'redis://127.0.0.1:1', prefix: stack.prefix }, drainMs: 100 })
    timers.work('note', work, async () => {})
    await timers.start()
    await expect(timers.ready()).resolves.toBeUndefined()
    await at(stack.db, timers, 'waiting')
    await timers.stop()
    expect(await stack.rows()).toMatchObject([{ key: 'waiting', lease: null }])
  })
})
