import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { endProcess, listens, startDetached } from '@restante/local/processes.ts'
import { waitFor } from '@restante/testkit'
import { type CertificateFiles, HOST } from './certificates.ts'

export interface SecureRedisOptions {
  readonly folder: string
  readonly port: number
  readonly certificate: CertificateFiles
  /** The authority of `certificate`: a file in PEM. */
  readonly authority: string
  readonly password: string
}

/** A Redis that serves TLS connections only, to a user of its ACL. */
export class SecureRedis {
  /** `rediss://` with the user and its password. */
  readonly url: string
  readonly #pidFile: string

  private constructor(url: string, pidFile: string) {
    this.url = url
    this.#pidFile = pidFile
  }

  static async start(options: SecureRedisOptions): Promise<SecureRedis> {
    const { port, certificate, authority, password } = options
    const folder = path.join(options.folder, 'redis')
    await mkdir(folder, { recursive: true })
    const file = path.join(folder, 'redis.conf')
    const lines = [
      'bind 127.0.0.1',
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${certificate.certificate}`,
      `tls-key-file ${certificate.key}`,
      `tls-ca-cert-file ${authority}`,
      'tls-auth-clients no',
      `dir ${folder}`,
      'save ""',
      'maxmemory-policy noeviction',
      'user default off',
      `user restante on >${password} ~* &* +@all`,
    ]
    await writeFile(file, `${lines.join('\n')}\n`)
    const pidFile = path.join(folder, 'redis.pid')
    await startDetached('redis-server', [file], { log: path.join(folder, 'redis.log'), pidFile })
    await waitFor(() => listens(port), { what: 'Redis with TLS' })
    return new SecureRedis(`rediss://restante:${password}@${HOST}:${port}`, pidFile)
  }

  stop(): Promise<void> {
    return endProcess(this.#pidFile)
  }
}
