import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort, waitFor } from '@restante/testkit'

/** Arguments of Python with which a server keeps its data in a folder and listens at a port of 127.0.0.1. */
type Command = (folder: string, port: number) => Promise<readonly string[]>

/** CalDAV servers of the Python environment. */
export const SERVERS = {
  async Radicale(folder, port) {
    const config = path.join(folder, 'config')
    const storage = `[storage]\nfilesystem_folder = ${folder}/data\n`
    await writeFile(config, `[server]\nhosts = 127.0.0.1:${port}\n[auth]\ntype = none\n${storage}`)
    return ['-m', 'radicale', '--config', config]
  },
  async xandikos(folder, port) {
    const place = ['--directory', path.join(folder, 'data'), '--defaults', '--state-dir', path.join(folder, 'state')]
    const listener = ['--listen-address', '127.0.0.1', '--port', String(port), '--no-detect-systemd']
    return ['-m', 'xandikos', 'serve', ...place, ...listener]
  },
} satisfies Record<string, Command>

/** Runs a server for as long as some work with its URL takes. */
export async function withServer(
  name: keyof typeof SERVERS,
  python: string,
  work: (url: string) => Promise<void> | void,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'caldav-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const server = spawn(python, [...(await SERVERS[name](folder, port))], { stdio: 'ignore' })
  const exit = once(server, 'exit')
  try {
    await waitFor(() => fetch(url).catch(() => undefined), { what: name })
    await work(url)
  } finally {
    server.kill()
    await exit
    await rm(folder, { recursive: true, force: true })
  }
}
