import { type ChildProcess, spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '@restante/service/testing'
import { waitFor } from '../../timing/wait-for.ts'

/** The zone of a `KnotServer`: a name reserved for tests (RFC 2606), with everything below it. */
const ZONE = 'test'
const SERIAL = 'serial.test'

/** A program in a folder of its own, until it is stopped. */
abstract class NameServer {
  protected folder = ''
  protected port = 0
  #child: ChildProcess | undefined

  /** `127.0.0.1:port`, the form of `DNS_SERVERS`. */
  get address(): string {
    return `127.0.0.1:${this.port}`
  }

  protected async prepare(): Promise<void> {
    this.folder = await mkdtemp(path.join(tmpdir(), 'restante-dns-'))
    this.port = await freePort()
  }

  /** Starts the program and waits until it answers for a name of the zone. */
  protected async run(program: string, args: readonly string[]): Promise<void> {
    this.#child = spawn(program, args, { stdio: 'ignore' })
    await waitFor(() => this.ask(SERIAL), { what: `${program} to answer`, interval: 50 })
  }

  protected reload(): void {
    this.#child?.kill('SIGHUP')
  }

  /** The strings of the TXT records of a name, asked without a cache. */
  protected async ask(name: string): Promise<string[]> {
    const resolver = new Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([this.address])
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(''))
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** An authoritative server, Knot DNS, for everything below `.test`: its zone is a file of lines that a test writes. */
export class KnotServer extends NameServer {
  #serial = 0

  /** @param lines records of the zone; SOA and NS are added. */
  async start(lines: string): Promise<this> {
    await this.prepare()
    const { folder } = this
    const config = [
      'server:',
      `  listen: 127.0.0.1@${this.port}`,
      `  rundir: ${folder}`,
      'database:',
      `  storage: ${folder}`,
      'template:',
      '  - id: default',
      `    storage: ${folder}`,
      '    zonefile-sync: -1',
      '    zonefile-load: whole',
      '    journal-content: none',
      'zone:',
      `  - domain: ${ZONE}`,
      '    file: zone',
    ]
    await this.#write(lines)
    await writeFile(path.join(folder, 'knot.conf'), `${config.join('\n')}\n`)
    await this.run('knotd', ['-c', path.join(folder, 'knot.conf')])
    return this
  }

  /** Replaces the lines of the zone. Resolves when the server answers with them. */
  async publish(lines: string): Promise<void> {
    await this.#write(lines)
    this.reload()
    const isLoaded = async () => (await this.ask(SERIAL)).includes(String(this.#serial))
    await waitFor(isLoaded, { what: 'the zone to be loaded', interval: 50 })
  }

  async #write(lines: string): Promise<void> {
    this.#serial++
    const head = [
      '$TTL 1',
      `${ZONE}. IN SOA ns.${ZONE}. hostmaster.${ZONE}. ${this.#serial} 3600 600 86400 1`,
      `${ZONE}. IN NS ns.${ZONE}.`,
      `ns.${ZONE}. IN A 127.0.0.1`,
      `${SERIAL}. IN TXT "${this.#serial}"`,
    ]
    await writeFile(path.join(this.folder, 'zone'), `${head.join('\n')}\n${lines}\n`)
  }
}

/** A recursive resolver with a cache, Unbound, that asks one authoritative server for everything below `.test`. */
export class UnboundResolver extends NameServer {
  async start(authority: KnotServer): Promise<this> {
    await this.prepare()
    const { folder } = this
    const config = [
      'server:',
      '  interface: 127.0.0.1',
      `  port: ${this.port}`,
      `  directory: "${folder}"`,
      '  chroot: ""',
      '  username: ""',
      '  pidfile: "unbound.pid"',
      '  use-syslog: no',
      '  logfile: "unbound.log"',
      '  do-daemonize: no',
      '  do-not-query-localhost: no',
      '  module-config: "iterator"',
      `  local-zone: "${ZONE}." nodefault`,
      '  access-control: 127.0.0.0/8 allow',
      'remote-control:',
      '  control-enable: no',
      'stub-zone:',
      `  name: "${ZONE}."`,
      `  stub-addr: ${authority.address.replace(':', '@')}`,
    ]
    await writeFile(path.join(folder, 'unbound.conf'), `${config.join('\n')}\n`)
    await this.run('unbound', ['-d', '-c', path.join(folder, 'unbound.conf')])
    return this
  }
}
