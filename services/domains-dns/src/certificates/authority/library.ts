import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { rootCertificates } from 'node:tls'
import { messageOf } from '@restante/service/errors'
import { AuthorityUnreachableError, problemOf } from './errors.ts'
import type { AcmeSettings } from './settings.ts'

export type AcmeLibrary = typeof import('acme-client')

const REQUEST_MS = 15_000
/** Far above a chain of certificates, which is the largest answer. */
const RESPONSE_BYTES = 256 * 1024

/**
 * Loads the ACME library at its first use: an installation without an authority need not pay its memory. The
 * library has one HTTP client for the process: its own handling of errors, which waits as long as `Retry-After` says and
 * loses the type of a problem, is replaced.
 */
export async function loadLibrary({ caFile }: AcmeSettings): Promise<AcmeLibrary> {
  const library = await import('acme-client')
  const { axios } = library
  Object.assign(axios.defaults, {
    timeout: REQUEST_MS,
    maxContentLength: RESPONSE_BYTES,
    maxRedirects: 0,
    ...(caFile !== undefined && {
      httpsAgent: new Agent({ ca: [...rootCertificates, await readFile(caFile, 'utf8')] }),
    }),
  })
  axios.interceptors.request.clear()
  axios.interceptors.response.clear()
  axios.interceptors.response.use(
    (response) => {
      const problem = problemOf(response)
      if (problem !== undefined) throw problem
      return response
    },
    (error: unknown) => {
      // The original error holds the whole request.
      throw new AuthorityUnreachableError(messageOf(error))
    },
  )
  return library
}
