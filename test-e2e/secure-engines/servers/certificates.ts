import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '@restante/local/processes.ts'

/** Where servers of this machine are reached; a certificate for it is also one for the name below. */
export const LOOPBACK = '127.0.0.1'
export const HOST = 'localhost'

/** A certificate with its key: files in PEM. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** A certificate authority in a folder, made with openssl. */
export class Authority {
  /** File of its certificate. */
  readonly file: string
  readonly #folder: string
  readonly #name: string

  private constructor(folder: string, name: string) {
    this.file = path.join(folder, `${name}.pem`)
    this.#folder = folder
    this.#name = name
  }

  /** @param name of its files. */
  static async create(folder: string, name: string): Promise<Authority> {
    const authority = new Authority(folder, name)
    const key = path.join(folder, `${name}.key`)
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...[
        '-subj',
        `/CN=${name}`,
        '-addext',
        'basicConstraints=critical,CA:TRUE',
        '-keyout',
        key,
        '-out',
        authority.file,
      ],
    ])
    return authority
  }

  /** Issues a certificate for a server. @param names as in a certificate: `DNS:localhost,IP:127.0.0.1`. */
  async issue(server: string, names = `DNS:${HOST},IP:${LOOPBACK}`): Promise<CertificateFiles> {
    const [certificate, key, request, extensions] = ['pem', 'key', 'csr', 'ext'].map((ending) =>
      path.join(this.#folder, `${server}.${ending}`),
    )
    if (!certificate || !key || !request || !extensions) throw new Error('a file has no name')
    await run('openssl', [
      ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', `/CN=${server}`, '-keyout', key, '-out', request],
    ])
    await writeFile(extensions, `subjectAltName=${names}\n`)
    await run('openssl', [
      ...['x509', '-req', '-in', request, '-CA', this.file, '-CAkey', path.join(this.#folder, `${this.#name}.key`)],
      ...['-CAcreateserial', '-days', '2', '-extfile', extensions, '-out', certificate],
    ])
    return { certificate, key }
  }

  read(): Promise<string> {
    return readFile(this.file, 'utf8')
  }
}
