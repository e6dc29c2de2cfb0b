import { appendFile, chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { asOwner, giveToOwner, postgresPrograms } from '@restante/local/engines/postgres.ts'
import { type CertificateFiles, HOST } from './certificates.ts'

export interface SecurePostgresOptions {
  /** A folder that the server's user can reach. */
  readonly folder: string
  readonly port: number
  readonly certificate: CertificateFiles
  readonly password: string
}

/** A PostgreSQL that serves TLS connections only, and proves passwords by SCRAM-SHA-256. */
export class SecurePostgres {
  /** Of the superuser, on the database `postgres`, without parameters about TLS. */
  readonly url: string
  readonly #data: string
  readonly #programs: string

  private constructor(url: string, data: string, programs: string) {
    this.url = url
    this.#data = data
    this.#programs = programs
  }

  static async start({ folder, port, certificate, password }: SecurePostgresOptions): Promise<SecurePostgres> {
    const programs = await postgresPrograms()
    const data = path.join(folder, 'postgres')
    const passwordFile = path.join(folder, 'postgres.password')
    await mkdir(data, { recursive: true, mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`)
    await giveToOwner(data, passwordFile)
    await asOwner(path.join(programs, 'initdb'), [
      ...['-D', data, '-U', 'restante', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
      ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    ])
    const [certificateFile, keyFile] = [path.join(data, 'server.crt'), path.join(data, 'server.key')]
    await copyFile(certificate.certificate, certificateFile)
    await copyFile(certificate.key, keyFile)
    await chmod(keyFile, 0o600)
    await giveToOwner(certificateFile, keyFile)
    await appendFile(
      path.join(data, 'postgresql.conf'),
      [
        `port = ${port}`,
        `listen_addresses = '127.0.0.1'`,
        `unix_socket_directories = ''`,
        'max_connections = 200',
        'fsync = off',
        'ssl = on',
        '',
      ].join('\n'),
    )
    await writeFile(path.join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n')
    const log = path.join(data, 'server.log')
    await asOwner(path.join(programs, 'pg_ctl'), ['-D', data, '-w', '-s', '-l', log, 'start'])
    return new SecurePostgres(`postgres://restante:${password}@${HOST}:${port}/postgres`, data, programs)
  }

  /** The URL of a database for a client that verifies the server. */
  verified(database = 'postgres'): string {
    const url = new URL(this.url)
    url.pathname = `/${database}`
    url.searchParams.set('sslmode', 'verify-full')
    return url.href
  }

  async stop(): Promise<void> {
    await asOwner(path.join(this.#programs, 'pg_ctl'), ['-D', this.#data, '-w', '-s', '-m', 'immediate', 'stop'])
  }
}
