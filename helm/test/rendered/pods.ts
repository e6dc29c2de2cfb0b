import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { PATIENCE_MS, waitFor } from '@restante/testkit'
import { root } from '../support/rendering.ts'

/** The command of the image, whose working folder is that of the service (deploy/image/Dockerfile). */
const IMAGE_COMMAND = ['/app/libs/service/bin/service-node', 'node', 'src/main.ts']

/** The command of a container on this machine: the paths of the image are those of the repository. */
function onThisMachine(command: readonly string[]): [program: string, ...args: string[]] {
  const [program = '', ...args] = command.map((word) =>
    word === 'node' ? process.execPath : word.replace(/^\/app\//, `${root}/`),
  )
  return [program, ...args]
}

const INHERITED = ['PATH', 'HOME'].flatMap((name) => {
  const value = process.env[name]
  return value === undefined ? [] : [[name, value]]
})

/** A pod of a Deployment, as a process with exactly this environment. */
export class Pod {
  readonly log: string
  readonly #service: string
  readonly #environment: Readonly<Record<string, string>>
  #child: ChildProcess | undefined

  constructor(service: string, environment: Readonly<Record<string, string>>, logs: string) {
    this.log = path.join(logs, `${service}.log`)
    this.#service = service
    this.#environment = environment
  }

  /** Resolves when it is ready. @param address of its HTTP port. */
  async start(address: string): Promise<void> {
    const [program, ...args] = onThisMachine(IMAGE_COMMAND)
    const output = openSync(this.log, 'a')
    const child = spawn(program, args, {
      cwd: path.join(root, 'services', this.#service),
      env: { ...Object.fromEntries(INHERITED), ...this.#environment },
      stdio: ['ignore', output, output],
    })
    closeSync(output)
    this.#child = child
    await waitFor(async () => child.exitCode !== null || (await fetch(`${address}/readyz`)).ok, {
      what: `${this.#service} to be ready (${this.log})`,
      timeout: 2 * PATIENCE_MS,
      interval: 200,
    })
    if (child.exitCode !== null) throw new Error(`${this.#service} ended with ${child.exitCode} (${this.log})`)
  }

  async stop(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.kill('SIGTERM')) await once(this.#child, 'exit')
  }
}

/** Runs the pod of a Job to its end. @throws Error with what it printed when it fails. */
export async function runJob(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const [program, ...args] = onThisMachine(command)
  const env = { ...Object.fromEntries(INHERITED), ...environment }
  const { stdout } = await promisify(execFile)(program, args, { cwd: root, env })
  return stdout
}
