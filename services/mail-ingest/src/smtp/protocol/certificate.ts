import { readFile, stat } from 'node:fs/promises'
import type { Logger } from '@restante/service/telemetry'
import type { SMTPServer } from 'smtp-server'

const CHECK_MS = 60_000

/** PEM of a certificate chain and its key. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Files that an operator or another program (cert-manager) keeps valid. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/**
 * A certificate that lives as long as this process. Other mail servers encrypt opportunistically (RFC 7435) and do not
 * verify names, so STARTTLS with it protects mail from passive readers; an installation that needs more configures its
 * own.
 */
export async function selfSigned(hostname: string): Promise<Certificate> {
  // Loaded only where it is used: it takes 4 MB, which an installation with certificates of its own saves.
  const { generate } = await import('selfsigned')
  const notAfterDate = new Date()
  notAfterDate.setFullYear(notAfterDate.getFullYear() + 2)
  const { cert, private: key } = await generate([{ name: 'commonName', value: hostname }], {
    keyType: 'ec',
    curve: 'P-256',
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: hostname }] }],
  })
  return { cert, key }
}

export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
  return { cert, key }
}

/**
 * Loads replaced certificate files while the process runs, until the returned function is called. Open sessions keep the
 * certificate that they began with.
 */
export function followCertificate(
  files: CertificateFiles,
  server: Pick<SMTPServer, 'updateSecureContext'>,
  log: Logger,
): () => void {
  let current = certificateVersion(files)
  const timer = setInterval(async () => {
    try {
      const version = await certificateVersion(files)
      if (version === (await current)) return
      server.updateSecureContext(await readCertificate(files))
      current = Promise.resolve(version)
      log.info('TLS certificate replaced')
    } catch (error) {
      log.error({ err: error }, 'TLS certificate could not be read, keeping the old one')
    }
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** A text that changes when the files are replaced. */
async function certificateVersion(files: CertificateFiles): Promise<string> {
  const times = await Promise.all([stat(files.cert), stat(files.key)])
  return times.map((file) => `${file.mtimeMs} ${file.size}`).join(' ')
}
