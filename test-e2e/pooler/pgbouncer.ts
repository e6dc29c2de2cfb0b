import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { listens } from '@restante/local/processes.ts'
import { root } from '@restante/local/settings.ts'
import { engines, freePort, waitFor } from '@restante/testkit'

/** The section that the guide for operators shows. */
async function documented(): Promise<string> {
  const guide = await readFile(path.join(root, 'docs/guide-operators.md'), 'utf8')
  const [, section] = /```ini\n( *\[databases\]\n[\s\S]*?)```/.exec(guide) ?? []
  if (section === undefined) throw new Error('the guide for operators shows no configuration of PgBouncer')
  return section.replace(/^ +/gm, '')
}

/** PgBouncer in front of the PostgreSQL of the tests, for any database, configured as the guide for operators shows. */
export class PgBouncer {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string
  readonly #folder: string
  readonly #child: ChildProcess

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url
    this.#folder = folder
    this.#child = child
  }

  static async start(): Promise<PgBouncer> {
    const server = new URL(engines.databaseUrl)
    const folder = await mkdtemp(path.join(tmpdir(), 'restante-pgbouncer-'))
    const port = await freePort()
    const users = path.join(folder, 'users.txt')
    const section = (await documented()).replace(
      'gateway = host=...',
      `* = host=${server.hostname} port=${server.port}`,
    )
    const own = [
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'max_client_conn = 1000',
      // Each of the tests' databases has a pool of its own.
      'default_pool_size = 5',
      'server_idle_timeout = 5',
    ]
    await writeFile(users, `"${server.username}" "${server.password}"\n`)
    const file = path.join(folder, 'pgbouncer.ini')
    await writeFile(file, `${section}${own.join('\n')}\n`)
    await Promise.all([chmod(folder, 0o755), chmod(file, 0o644), chmod(users, 0o644)])
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
    const child = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'inherit'] })
    await waitFor(() => listens(port), { what: 'PgBouncer' })
    server.port = String(port)
    server.hostname = '127.0.0.1'
    return new PgBouncer(server.href, folder, child)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.kill('SIGTERM')) await once(this.#child, 'exit')
    await rm(this.#folder, { recursive: true, force: true })
  }
}
