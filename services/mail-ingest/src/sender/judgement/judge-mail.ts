import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { ARCResult, DKIMResult, DKIMVerifyResult, DMARCResult, SPFResult } from 'mailauth'
import { arc as verifyArc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf as verifySpf } from 'mailauth/lib/spf/index.js'
import { eitherVersion } from '../dns/either-version.ts'
import type { Lookups, Step } from '../dns/lookups.ts'
import { domainOf } from './domains.ts'
import { covers, type Dmarc, judgementOf } from './judgement.ts'
import type { Judgement, MailToJudge } from './protocol.ts'

const DNS_MS = LIMITS.inbound.senderAuthentication
/**
 * Less than for the other steps, because the policy was prefetched: only further queries that depend on signatures
 * remain.
 */
const POLICY_MS = DNS_MS / 2
/** Most labels in DMARC's tree walk (RFC 9989 4.10). */
const WALKED_LABELS = 8
const TAG = /[;\s](d|s)\s*=\s*([^;\s]+)/g

/**
 * Authenticates the sender of a mail by SPF, DKIM, DMARC and ARC. Each step has a time limit of its own for DNS; an
 * answer that is missing then is a temporary error.
 * @param message header and body
 */
export async function judgeMail(mail: MailToJudge, message: Readable, lookups: Lookups): Promise<Judgement> {
  lookups.prefetch(namesAhead(mail))
  const steps: Step[] = []
  const step = (ms: number): Step => {
    const next = lookups.step(ms)
    steps.push(next)
    return next
  }
  try {
    const spfStep = step(DNS_MS)
    const spfResult = verifySpf({
      ...clientOf(mail),
      sender: mail.mailFrom,
      mta: mail.hostname,
      strict: true,
      resolver: eitherVersion(spfStep.resolve),
    })
    // The time for keys begins when the body has been read, which is when the verifier queries the first key.
    let keys: Step | undefined
    const dkim = await dkimVerify(message, {
      sender: mail.mailFrom,
      // RFC 8301 3.1: a signature with SHA-1 verifies nothing.
      rejectRsaSha1: true,
      resolver(name, type) {
        keys ??= step(DNS_MS)
        return keys.resolve(name, type)
      },
    })
    const keyStep = keys ?? step(DNS_MS)
    const spf = await spfResult
    const arc = await checkChain(dkim.arc, keyStep)
    const policyStep = step(POLICY_MS)
    const author = agreedDomain(mail, dkim)
    const dmarc = await askDmarc(author, mail, { spf, dkim: dkim.results, resolve: policyStep.resolve })
    return judgementOf(mail, { author, spf, dkim: dkim.results, arc, dmarc }, { spfStep, keyStep, policyStep })
  } finally {
    for (const each of steps) each.end()
  }
}

async function checkChain(data: DKIMVerifyResult['arc'], { resolve }: Step): Promise<ARCResult | undefined> {
  if (data === undefined) return undefined
  const { chain, lastEntry, error } = data
  const known = { ...(lastEntry !== undefined && { lastEntry }), ...(error !== undefined && { error }) }
  return verifyArc({ chain: chain || [], ...known }, { resolver: resolve })
}

/** For a null return path the name that the client gave in HELO is used (RFC 7208 2.4). */
function clientOf({ peer, helo }: MailToJudge): { ip: string; helo: string } {
  const name = helo === '' ? peer : helo
  return { ip: peer, helo: isIP(name) === 0 ? name : `[${name}]` }
}

/** Names whose records will be needed: those of the policy, and those of the keys that the signatures name. */
function namesAhead({ author, header }: MailToJudge): string[] {
  const labels = author === undefined ? [] : domainOf(author).split('.').slice(-WALKED_LABELS)
  const policies = labels.map((_, index) => `_dmarc.${labels.slice(index).join('.')}`)
  const signatures = header.match(/^dkim-signature[ \t]*:.*(?:\r\n[ \t].*)*/gim) ?? []
  const keys = signatures.flatMap((field) => {
    const tags = new Map([...field.replace(':', ';').matchAll(TAG)].map(([, tag, value]) => [tag, value]))
    const [domain, selector] = [tags.get('d'), tags.get('s')]
    return domain === undefined || selector === undefined ? [] : [`${selector}._domainkey.${domain}`]
  })
  return [...policies, ...keys]
}

/**
 * The domain of the only author. The parser of the mailbox determines the author, and mailauth must find the same
 * domain in the field. A mistake of either can therefore only make a mail unauthenticated.
 */
function agreedDomain({ author }: MailToJudge, { headerFrom, fromFields }: DKIMVerifyResult): string | undefined {
  const [read, ...others] = headerFrom
  if (author === undefined || read === undefined || others.length > 0 || fromFields !== 1) return undefined
  return domainOf(read) === domainOf(author) ? domainOf(author) : undefined
}

async function askDmarc(
  author: string | undefined,
  { repeatsField }: MailToJudge,
  given: { spf: SPFResult; dkim: readonly DKIMResult[]; resolve: Step['resolve'] },
): Promise<Dmarc> {
  if (author === undefined) return { response: undefined, passesUncovered: false }
  const passed = given.dkim.filter(({ status }) => status.result === 'pass')
  const ask = async (signatures: readonly DKIMResult[]): Promise<DMARCResult | undefined> => {
    const { response } = await evaluateDmarc({
      headerFrom: author,
      fromFields: 1,
      spfDomains: given.spf.status.result === 'pass' ? [given.spf.domain] : [],
      dkimDomains: signatures.map(({ signingDomain = '' }) => ({ domain: signingDomain })),
      resolver: given.resolve,
    })
    return response || undefined
  }
  const covering = passed.filter((signature) => covers(signature, repeatsField))
  const response = await ask(covering)
  if (response?.status.result === 'pass' || covering.length === passed.length)
    return { response, passesUncovered: false }
  return { response, passesUncovered: (await ask(passed))?.status.result === 'pass' }
}
