import { readFile, stat } from 'node:fs/promises'

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

/** A text that changes when the files are replaced. */
export async function certificateVersion(files: CertificateFiles): Promise<string> {
  const times = await Promise.all([stat(files.cert), stat(files.key)])
  return times.map((file) => `${file.mtimeMs} ${file.size}`).join(' ')
}
