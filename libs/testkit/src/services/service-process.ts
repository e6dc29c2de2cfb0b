import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { serviceCommand } from '@restante/service/process'
import { freePort, PATIENCE_MS } from '@restante/service/testing'
import { waitFor } from '../timing/wait-for.ts'

/** Another replica of a service, in a process of its own that a test may kill. */
export class ServiceProcess {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** @param main of the service. @param env of the fixture. Resolves when the replica is ready. */
  static async start(main: string, env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
    const [program, ...args] = serviceCommand(main)
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}`
    const own = { PATH: process.env['PATH'], LOG_LEVEL: 'silent', ...env, PORT: port }
    const child = spawn(program, args, { env: own, stdio: 'inherit' })
    await waitFor(async () => child.exitCode !== null || (await fetch(`${url}/readyz`)).ok, {
      what: 'the replica to be ready',
      timeout: 2 * PATIENCE_MS,
      interval: 50,
    })
    if (child.exitCode !== null) throw new Error(`the replica ended with exit code ${child.exitCode}`)
    return new ServiceProcess(child, url)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Kills it with SIGKILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
