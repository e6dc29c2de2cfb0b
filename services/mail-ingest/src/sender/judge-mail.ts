import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { LIMITS, type MessageAuthentication } from '@restante/contracts'
import type { ARCResult, DKIMResult, DKIMVerifyResult, DMARCResult, SPFResult } from 'mailauth'
import { arc as verifyArc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf as verifySpf } from 'mailauth/lib/spf/index.js'
import { alignmentOf, canonicalDomain, domainOf } from './domains.ts'
import {
  type Alignment,
  conclude,
  type Findings,
  type SignatureFinding,
  shownResult,
  shownSignature,
} from './findings.ts'
import type { Lookups, Step } from './lookups.ts'
import type { Judgement, MailToJudge, Question } from './protocol.ts'
import { resultLines } from './result-lines.ts'

const DNS_MS = LIMITS.inbound.senderAuthentication
/** The policy was queried when the mail arrived: this is the time for further answers that depend on signatures. */
const POLICY_MS = DNS_MS / 2
/** Most labels in DMARC's tree walk (RFC 9989 4.10). */
const WALKED_LABELS = 8
const TAG = /[;\s](d|s)\s*=\s*([^;\s]+)/g

/**
 * Authenticates the sender of a mail by SPF, DKIM, DMARC and ARC. Each step has DNS time of its own: an answer that is
 * not known by then is a temporary error.
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
      resolver: spfStep.resolve,
    })
    // Its time begins when the body has been read, which the first query of a key shows.
    let keys: Step | undefined
    const dkim = await dkimVerify(message, {
      sender: mail.mailFrom,
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
    return report(mail, { author, spf, dkim: dkim.results, arc, dmarc }, { spfStep, keyStep, policyStep })
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

interface Results {
  readonly author: string | undefined
  readonly spf: SPFResult
  readonly dkim: readonly DKIMResult[]
  readonly arc: ARCResult | undefined
  readonly dmarc: Dmarc
}

interface Dmarc {
  readonly response: DMARCResult | undefined
  readonly passesUncovered: boolean
}

/** For a null return path the name that the client gave in HELO is used (RFC 7208 2.4). */
function clientOf({ peer, helo }: MailToJudge): { ip: string; helo: string } {
  const name = helo === '' ? peer : helo
  return { ip: peer, helo: isIP(name) === 0 ? name : `[${name}]` }
}

/** Names whose records will be needed: those of the policy, and of the keys that the signatures name. */
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
 * The domain of the one author. The mailbox's parser determines the author; the library must find the same domain in
 * the field, so that a mistake of either only makes a mail unauthenticated.
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

/** RFC 6376 5.4.2, 8.2: content added above or below a signed mail is shown but not signed. */
function covers({ status }: DKIMResult, repeatsField: boolean): boolean {
  return !repeatsField && (status.underSized ?? 0) === 0
}

function report(
  mail: MailToJudge,
  { author, spf, dkim, arc, dmarc }: Results,
  { spfStep, keyStep, policyStep }: Record<'spfStep' | 'keyStep' | 'policyStep', Step>,
): Judgement {
  const align = (domain: string | undefined, strict: boolean | undefined): Alignment => {
    const alignment = author === undefined || domain === undefined ? 'none' : alignmentOf(author, domain)
    return strict === true && alignment === 'relaxed' ? 'none' : alignment
  }
  const modes = dmarc.response?.alignment
  const signatures = dkim.map(
    (signature): SignatureFinding => ({
      result: signatureResult(signature.status.result),
      alignment: align(signature.signingDomain, modes?.dkim.strict),
      covers: covers(signature, mail.repeatsField),
    }),
  )
  const findings: Findings = {
    authorDomain: author,
    spf: { result: spfResult(spf.status.result), alignment: align(spf.domain, modes?.spf.strict) },
    signatures,
    dmarc: {
      result: dmarcResult(dmarc.response?.status.result),
      policy: dmarc.response?.policy,
      passesUncovered: dmarc.passesUncovered,
    },
    arc: arcFinding(arc, author, mail),
  }
  const conclusion = conclude(findings)
  const keyNames = dkim.flatMap(({ selector, signingDomain }, index) =>
    signatures[index]?.result === 'temperror' && signatures[index].alignment !== 'none'
      ? [`${selector}._domainkey.${signingDomain}`.toLowerCase()]
      : [],
  )
  const unanswered: Question[] = [
    ...(findings.spf.result === 'temperror' && findings.spf.alignment !== 'none' ? spfStep.failed : []),
    ...keyStep.failed.filter(({ name }) => keyNames.includes(name.toLowerCase())),
    ...(findings.dmarc.result === 'temperror' ? policyStep.failed : []),
  ]
  // An error without a failed query, such as too many names to query, is not temporary.
  const temporary = conclusion.temporary && unanswered.length > 0
  const dmarcShown = conclusion.temporary && findings.dmarc.result === 'fail' ? 'temperror' : findings.dmarc.result
  return {
    ...conclusion,
    temporary,
    unanswered: temporary ? unanswered : [],
    passed: [
      ...(findings.spf.result === 'pass' ? [canonicalDomain(spf.domain)] : []),
      ...dkim.flatMap(({ signingDomain }, index) => {
        const passes = signatures[index]?.result === 'pass' && signatures[index].covers
        return passes && signingDomain !== undefined ? [canonicalDomain(signingDomain)] : []
      }),
    ],
    authentication: {
      ...(mail.author !== undefined && { from_domain: domainOf(mail.author) }),
      spf: findings.spf.result,
      dkim: shownSignature(signatures),
      dmarc: dmarcShown,
      arc: findings.arc.result,
    },
    trace: resultLines(mail.hostname, spf.header, [
      ...dkim.map(({ info }, index) => shownInfo(info, signatures[index])),
      spf.info,
      arc?.info,
      dmarc.response?.info?.replace(/^dmarc=\w+/, `dmarc=${dmarcShown}`),
    ]),
  }
}

function shownInfo(info: string | undefined, signature: SignatureFinding | undefined): string | undefined {
  if (signature === undefined || shownResult(signature) !== 'policy') return info
  return info?.replace(/^dkim=pass\b/, 'dkim=policy (does not cover the mail as shown)')
}

/** A valid chain, sealed last by a trusted forwarder for which the mail of this author passed DMARC. */
function arcFinding(arc: ARCResult | undefined, author: string | undefined, mail: MailToJudge): Findings['arc'] {
  const result = arc?.status.result
  if (arc === undefined || (result !== 'pass' && result !== 'fail'))
    return { result: 'none', vouches: false, covers: false }
  const seal: unknown = arc.chain?.at(-1)?.['arc-seal']?.parsed?.['d']?.value
  const sealer = typeof seal === 'string' ? canonicalDomain(seal) : ''
  const isTrusted = mail.arcTrustedSealers.some((domain) => sealer === domain || sealer.endsWith(`.${domain}`))
  const sealed = arc.authenticationResults?.['dmarc']
  const from: unknown = sealed?.header?.from
  const saw = sealed?.result === 'pass' && typeof from === 'string' && canonicalDomain(from) === author
  const signature = arc.signature || undefined
  return {
    result,
    vouches: result === 'pass' && isTrusted && saw,
    covers: signature !== undefined && covers(signature, mail.repeatsField),
  }
}

type Spf = MessageAuthentication['spf']
type Dkim = MessageAuthentication['dkim']

function spfResult(word: string): Spf {
  const words: readonly Spf[] = ['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror']
  return words.find((each) => each === word) ?? 'none'
}

function signatureResult(word: string): Dkim {
  const words: readonly Dkim[] = ['none', 'neutral', 'pass', 'fail', 'policy', 'temperror', 'permerror']
  return words.find((each) => each === word) ?? 'neutral'
}

function dmarcResult(word: string | undefined): MessageAuthentication['dmarc'] {
  const words: readonly MessageAuthentication['dmarc'][] = ['pass', 'fail', 'temperror', 'permerror']
  return words.find((each) => each === word) ?? 'none'
}
