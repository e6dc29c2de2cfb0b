import type { MessageAuthentication } from '@restante/contracts/resources'
import type { ARCResult, DKIMResult, DMARCResult, SPFResult } from 'mailauth'
import type { Step } from '../dns/lookups.ts'
import type { Question } from '../dns/question.ts'
import { alignmentOf, canonicalDomain, domainOf } from './domains.ts'
import {
  type Alignment,
  conclude,
  type Findings,
  type SignatureFinding,
  shownResult,
  shownSignature,
} from './findings.ts'
import type { Judgement, MailToJudge } from './protocol.ts'
import { resultLines } from './result-lines.ts'

/** The results of mailauth, for the author on whom both parsers agree. */
export interface Results {
  readonly author: string | undefined
  readonly spf: SPFResult
  readonly dkim: readonly DKIMResult[]
  readonly arc: ARCResult | undefined
  readonly dmarc: Dmarc
}

/** The result of DMARC by the signatures that cover the mail, and whether it would pass by the other ones, too. */
export interface Dmarc {
  readonly response: DMARCResult | undefined
  readonly passesUncovered: boolean
}

/** The look-ups of each result, which record the queries that DNS has not answered. */
export interface JudgementSteps {
  readonly spfStep: Step
  readonly keyStep: Step
  readonly policyStep: Step
}

/**
 * Whether a signature covers the mail as it is shown: content that was added above or below a signed mail is shown but
 * not signed (RFC 6376 5.4.2, 8.2).
 */
export function covers({ status }: DKIMResult, repeatsField: boolean): boolean {
  return !repeatsField && (status.underSized ?? 0) === 0
}

/** The judgement that follows from the results: verdict, results as they are shown, and header lines. */
export function judgementOf(mail: MailToJudge, results: Results, steps: JudgementSteps): Judgement {
  const { spf, dkim, arc, dmarc } = results
  const findings = findingsOf(mail, results)
  const { signatures } = findings
  const conclusion = conclude(findings)
  const unanswered = unansweredQuestions(findings, dkim, steps)
  // An error without a failed query, such as too many names to query, is not temporary.
  const temporary = conclusion.temporary && unanswered.length > 0
  const dmarcShown = conclusion.temporary && findings.dmarc.result === 'fail' ? 'temperror' : findings.dmarc.result
  return {
    ...conclusion,
    temporary,
    unanswered: temporary ? unanswered : [],
    passed: domainsWith('pass', findings, results),
    undecided: domainsWith('temperror', findings, results),
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

function findingsOf(mail: MailToJudge, { author, spf, dkim, arc, dmarc }: Results): Findings {
  const align = (domain: string | undefined, strict: boolean | undefined): Alignment => {
    const alignment = author === undefined || domain === undefined ? 'none' : alignmentOf(author, domain)
    return strict === true && alignment === 'relaxed' ? 'none' : alignment
  }
  const modes = dmarc.response?.alignment
  return {
    authorDomain: author,
    spf: { result: spfResult(spf.status.result), alignment: align(spf.domain, modes?.spf.strict) },
    signatures: dkim.map(
      (signature): SignatureFinding => ({
        result: signatureResult(signature.status.result),
        alignment: align(signature.signingDomain, modes?.dkim.strict),
        covers: covers(signature, mail.repeatsField),
      }),
    ),
    dmarc: {
      result: dmarcResult(dmarc.response?.status.result),
      policy: dmarc.response?.policy,
      passesUncovered: dmarc.passesUncovered,
    },
    arc: arcFinding(arc, author, mail),
  }
}

/** The queries without an answer on which the verdict depends. */
function unansweredQuestions(
  { spf, signatures, dmarc }: Findings,
  dkim: readonly DKIMResult[],
  { spfStep, keyStep, policyStep }: JudgementSteps,
): Question[] {
  const keyNames = dkim.flatMap(({ selector, signingDomain }, index) =>
    signatures[index]?.result === 'temperror' && signatures[index].alignment !== 'none'
      ? [`${selector}._domainkey.${signingDomain}`.toLowerCase()]
      : [],
  )
  return [
    ...(spf.result === 'temperror' && spf.alignment !== 'none' ? spfStep.failed : []),
    ...keyStep.failed.filter(({ name }) => keyNames.includes(name.toLowerCase())),
    ...(dmarc.result === 'temperror' ? policyStep.failed : []),
  ]
}

/** Domains for which SPF, or a signature that covers the mail, has this result, whoever the author is. */
function domainsWith(result: 'pass' | 'temperror', findings: Findings, { spf, dkim }: Results): string[] {
  return [
    ...(findings.spf.result === result ? [canonicalDomain(spf.domain)] : []),
    ...dkim.flatMap(({ signingDomain }, index) => {
      const signature = findings.signatures[index]
      const counts = signature?.result === result && signature.covers
      return counts && signingDomain !== undefined ? [canonicalDomain(signingDomain)] : []
    }),
  ]
}

function shownInfo(info: string | undefined, signature: SignatureFinding | undefined): string | undefined {
  if (signature === undefined || shownResult(signature) !== 'policy') return info
  return info?.replace(/^dkim=pass\b/, 'dkim=policy (does not cover the mail as shown)')
}

/**
 * What an ARC chain proves: a trusted forwarder vouches for the mail when the chain is valid, was sealed last by that
 * forwarder, and records that mail of this author passed DMARC.
 */
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
