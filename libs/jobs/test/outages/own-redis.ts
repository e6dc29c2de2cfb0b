import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '@restante/service/testing'
import { Redis } from 'ioredis'
import { until } from '../stack.ts'

/** A Redis of one suite's own, which may be killed, frozen and flushed. It persists nothing. */
export class OwnRedis {
  readonly url: string
  readonly #port: number
  readonly #folder: string
  #server: ChildProcess | undefined

  private constructor(port: number, folder: string) {
    this.#port = port
    this.#folder = folder
    this.url = `redis://127.0.0.1:${port}`
  }

  static async start(): Promise<OwnRedis> {
    const redis = new OwnRedis(await freePort(), await mkdtemp(path.join(tmpdir(), 'redis-')))
    await redis.start()
    return redis
  }

  /** Starts the server, empty, and waits until it answers. */
  async start(): Promise<void> {
    const place = ['--bind', '127.0.0.1', '--port', String(this.#port), '--dir', this.#folder, '--save', '']
    this.#server = spawn('redis-server', [...place, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' })
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: null }).on('error', () => {})
    await until(() =>
      client.connect().then(
        () => true,
        () => false,
      ),
    )
    client.disconnect()
  }

  async kill(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }

  freeze(): void {
    this.#server?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#server?.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
