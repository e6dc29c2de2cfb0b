import type { MessageAuthentication } from '@restante/contracts/resources'

/** How a domain relates to the author's (RFC 9989 3.2.10): the same name, the same organizational domain, or neither. */
export type Alignment = 'exact' | 'relaxed' | 'none'

/** One DKIM signature. */
export interface SignatureFinding {
  readonly result: MessageAuthentication['dkim']
  readonly alignment: Alignment
  /** Whether it covers the mail as it is shown: the whole body, and no unique field twice (mail 13). */
  readonly covers: boolean
}

/** The results of SPF, DKIM, DMARC and ARC, for the one author of a mail. */
export interface Findings {
  /** Undefined: the mail does not name exactly one author, so that nothing can be authenticated. */
  readonly authorDomain: string | undefined
  readonly spf: { readonly result: MessageAuthentication['spf']; readonly alignment: Alignment }
  readonly signatures: readonly SignatureFinding[]
  readonly dmarc: {
    /** By the signatures that cover the mail. */
    readonly result: MessageAuthentication['dmarc']
    /** The policy that applies, where there is one. */
    readonly policy: string | undefined
    /** Whether DMARC would pass if signatures that do not cover the mail counted, too. */
    readonly passesUncovered: boolean
  }
  readonly arc: {
    readonly result: MessageAuthentication['arc']
    /** Whether a trusted forwarder has sealed that mail of this author passed DMARC. */
    readonly vouches: boolean
    readonly covers: boolean
  }
}

/** The conclusion from the findings. */
export interface Conclusion {
  readonly verdict: 'pass' | 'fail' | 'none'
  /** Whether the author's domain requests rejection of failing mail, and nothing speaks against it (mail 13). */
  readonly discard: boolean
  /** Whether a DNS query that failed temporarily could change the outcome. */
  readonly temporary: boolean
}

const NOTHING: Conclusion = { verdict: 'none', discard: false, temporary: false }

/**
 * DMARC decides where there is a policy. Without one, the domain of the author itself must have passed, by an aligned
 * signature or by SPF: a pass of another domain says nothing about this author. Nothing is discarded while an answer is
 * missing that could change the outcome. Only three can: the policy of the author domain, the key of an aligned
 * signature, and the SPF record of an aligned return path.
 */
export function conclude(findings: Findings): Conclusion {
  const { authorDomain, dmarc, arc, spf, signatures } = findings
  if (authorDomain === undefined) return NOTHING
  if (isPass(findings) || (arc.vouches && arc.covers)) return { ...NOTHING, verdict: 'pass' }
  const unanswered = [spf, ...signatures].some(
    ({ result, alignment }) => result === 'temperror' && alignment !== 'none',
  )
  if (unanswered || dmarc.result === 'temperror') return { ...NOTHING, temporary: true }
  if (dmarc.result !== 'fail') return NOTHING
  const refused = dmarc.policy === 'quarantine' || dmarc.policy === 'reject'
  return { verdict: 'fail', discard: refused && !dmarc.passesUncovered && !arc.vouches, temporary: false }
}

function isPass({ dmarc, spf, signatures }: Findings): boolean {
  if (dmarc.result === 'fail') return false
  const passed = [spf, ...signatures.filter(({ covers }) => covers)].filter(({ result }) => result === 'pass')
  // A policy that could not be read may require exactly the same domain.
  if (dmarc.result === 'temperror') return passed.some(({ alignment }) => alignment === 'exact')
  // Alignment is required even where DMARC passes: its tree walk in DNS can mistake a public suffix that has a record
  // for an organization, and two customers of that suffix for the same one.
  return passed.some(({ alignment }) => alignment !== 'none')
}

/** Best first. */
const ORDER: readonly MessageAuthentication['dkim'][] = [
  'pass',
  'policy',
  'temperror',
  'permerror',
  'fail',
  'neutral',
  'none',
]

/** The one result that is shown for all signatures: that of an aligned one, otherwise the best (mail 5.1). */
export function shownSignature(signatures: readonly SignatureFinding[]): MessageAuthentication['dkim'] {
  const aligned = signatures.filter(({ alignment }) => alignment !== 'none')
  const results = (aligned.length > 0 ? aligned : signatures).map((one) => shownResult(one))
  return ORDER.find((result) => results.includes(result)) ?? 'none'
}

/** A signature that verifies but does not cover the mail is not accepted, by policy (RFC 8601 2.7.1). */
export function shownResult({ result, covers }: SignatureFinding): MessageAuthentication['dkim'] {
  return result === 'pass' && !covers ? 'policy' : result
}
