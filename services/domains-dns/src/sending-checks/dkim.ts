import { dkimSign } from 'mailauth'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import type { SendingOutcome } from '../records/checks.ts'
import type { MailauthResolver } from './mailauth-resolver.ts'

export interface SigningPair {
  readonly domain: string
  readonly selector: string
  /** PKCS #8 in PEM. */
  readonly privateKey: string
}

const ALGORITHM = 'rsa-sha256'

/** Signs a message for a domain and verifies it as a receiver would, with the key that DNS publishes (domains 7.1). */
export async function checkDkim(pair: SigningPair, resolver: MailauthResolver): Promise<SendingOutcome> {
  const message = probeFrom(pair.domain)
  const key = { signingDomain: pair.domain, selector: pair.selector, privateKey: pair.privateKey, algorithm: ALGORITHM }
  const { signatures, errors } = await dkimSign(message, {
    ...key,
    canonicalization: 'relaxed/relaxed',
    signatureData: [key],
  })
  if (errors.length > 0) return 'failed'
  const { results } = await dkimVerify(Buffer.from(signatures + message), { resolver, rejectRsaSha1: true })
  const result = results[0]?.status.result
  if (result === 'pass') return 'passed'
  return result === 'temperror' ? 'unanswered' : 'failed'
}

function probeFrom(domain: string): string {
  const fields = [`From: postmaster@${domain}`, `To: postmaster@${domain}`, 'Subject: Check of a signature']
  return [...fields, `Date: ${new Date().toUTCString()}`, '', 'This message is never sent.', ''].join('\r\n')
}
