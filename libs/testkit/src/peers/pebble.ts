import { type ChildProcess, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from '@restante/service/testing'
import { z } from 'zod'
import { waitFor } from '../timing/wait-for.ts'
import { type SelfSigned, selfSigned } from './self-signed.ts'

const HOST = 'localhost'

export interface PebbleOptions {
  /** `address:port` of the DNS server that it asks for hosts. */
  readonly dns: string
  /** Port of every host that answers HTTP-01 challenges. */
  readonly httpPort: number
  /** Lifetime of its certificates in seconds. Default: its own, five years. */
  readonly validSeconds?: number
  /** Keys of external accounts by identifier; with them it requires one. */
  readonly externalAccounts?: Readonly<Record<string, string>>
}

/** The certificate authority `pebble`, which speaks ACME as a public one does and forgets everything when it stops. */
export class Pebble {
  /** URL of its directory. */
  readonly directory: string
  /** File with the certificate that its own server is accepted with. */
  readonly caFile: string
  readonly #folder: string
  readonly #own: SelfSigned
  readonly #management: string
  #child: ChildProcess | undefined

  private constructor(folder: string, own: SelfSigned, ports: { readonly acme: number; readonly management: number }) {
    this.directory = `https://${HOST}:${ports.acme}/dir`
    this.caFile = path.join(folder, 'certificate.pem')
    this.#folder = folder
    this.#own = own
    this.#management = `https://${HOST}:${ports.management}`
  }

  /** Resolves when it answers. */
  static async start(options: PebbleOptions): Promise<Pebble> {
    const folder = await mkdtemp(path.join(tmpdir(), 'restante-pebble-'))
    const [own, acme, management, tlsPort] = await Promise.all([selfSigned(HOST), freePort(), freePort(), freePort()])
    const pebble = new Pebble(folder, own, { acme, management })
    const { validSeconds, externalAccounts } = options
    const settings = {
      listenAddress: `127.0.0.1:${acme}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: pebble.caFile,
      privateKey: path.join(folder, 'key.pem'),
      httpPort: options.httpPort,
      tlsPort,
      ...(validSeconds !== undefined && { certificateValidityPeriod: validSeconds }),
      externalAccountBindingRequired: externalAccounts !== undefined,
      ...(externalAccounts !== undefined && { externalAccountMACKeys: externalAccounts }),
    }
    await writeFile(pebble.caFile, own.certificate)
    await writeFile(settings.privateKey, own.privateKey)
    await writeFile(path.join(folder, 'pebble.json'), JSON.stringify({ pebble: settings }))
    await pebble.#run(options.dns)
    return pebble
  }

  async #run(dns: string): Promise<void> {
    const args = ['-config', path.join(this.#folder, 'pebble.json'), '-dnsserver', dns]
    // Without its pauses of up to 15 s before it validates. It goes on refusing one nonce in twenty.
    this.#child = spawn('pebble', args, { stdio: 'ignore', env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' } })
    await waitFor(
      () =>
        this.#get('/roots/0')
          .then(() => true)
          .catch(() => false),
      {
        what: 'pebble to answer',
      },
    )
  }

  /** The root of its certificates, in PEM. */
  root(): Promise<string> {
    return this.#get('/roots/0')
  }

  /** Whether a certificate that it has issued is revoked. @param chain PEM. */
  async isRevoked(chain: string): Promise<boolean> {
    const serial = new X509Certificate(chain).serialNumber.toLowerCase()
    const status = await this.#get(`/cert-status-by-serial/${serial}`)
    return certificateStatus.parse(JSON.parse(status)).Status === 'Revoked'
  }

  async #get(target: string): Promise<string> {
    const [response]: IncomingMessage[] = await once(
      get(`${this.#management}${target}`, { ca: this.#own.certificate, agent: false }),
      'response',
    )
    if (response === undefined) throw new Error('pebble did not answer')
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(`pebble answered ${response.statusCode}: ${body}`)
    return body
  }

  async stop(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.kill()) await once(this.#child, 'exit')
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const certificateStatus = z.object({ Status: z.string() })
