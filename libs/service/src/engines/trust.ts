import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { z } from 'zod'
import { env } from '../configuration/environment.ts'
import { codeOf } from '../errors/error-codes.ts'
import { messageOf } from '../errors/message-of.ts'

/** The authorities that certificates of engines are accepted from, for all connections of a process. */
export interface EngineTrust {
  /** PEM, the public authorities included. */
  readonly authorities: readonly string[]
  /** Shared by all connections: each one of its own would take 12 ms and 1.3 MB. */
  readonly secureContext: SecureContext
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * The public authorities and those of a file.
 * @throws Error that says what is wrong with the file, without its content.
 */
export function readTrust(file: string): EngineTrust {
  const own = certificatesOf(contentOf(file))
  const authorities = [...getCACertificates('default'), ...own]
  return { authorities, secureContext: createSecureContext({ ca: authorities }) }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error ? codeOf(error) : undefined
    throw new Error(`must name a file that can be read (${code ?? 'unreadable'})`)
  }
}

function certificatesOf(content: string): string[] {
  const certificates = content.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new Error('must name a file with certificates in PEM')
  for (const certificate of certificates) requireCertificate(certificate)
  return certificates
}

function requireCertificate(certificate: string): void {
  try {
    new X509Certificate(certificate)
  } catch {
    throw new Error('must name a file whose certificates are whole: one of them cannot be decoded')
  }
}

/** The variable that names the authorities of engines; of services and of the programs of operators. */
export const engineVariables = z.object({
  ENGINE_CA_FILE: env
    .string()
    .transform((file, context) => {
      try {
        return readTrust(file)
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) })
        return z.NEVER
      }
    })
    .optional()
    .describe(
      'File with the certificate authorities (PEM) that PostgreSQL, Redis, Kafka, its token endpoint and the object store are accepted by, in addition to the public ones; read at start; not used for URLs of users',
    ),
})
