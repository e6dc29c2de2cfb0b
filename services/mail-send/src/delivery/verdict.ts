/** What was said about one recipient, and by whom. */
export interface Verdict {
  /** Enhanced status code (RFC 3463): `4.2.2`, `5.1.1`. */
  readonly status: string
  /** The answer in words, for operators. */
  readonly text: string
  /** Who answered: host name of a server, or absent when none was reached. */
  readonly mta?: string
  /** Its IP address. */
  readonly address?: string
}

/** What became of one recipient in one attempt. */
export type Outcome =
  /** A server took the message and is responsible for it now. */
  | { readonly kind: 'delivered'; readonly verdict: Verdict }
  /** Refused for good: another attempt would be refused again. */
  | { readonly kind: 'refused'; readonly verdict: Verdict }
  /** Not now. */
  | { readonly kind: 'deferred'; readonly verdict: Verdict }

const TEXT_LENGTH = 1_000

/**
 * Reads a reply of an SMTP server (RFC 5321 4.2, RFC 2034). The basic code decides between now, later and never; a
 * missing enhanced status is made up from its first digit.
 */
export function readReply(response: string, mta: string, address?: string): Outcome {
  const lines = response
    .split(/\r?\n/)
    .map((line) => /^(\d{3})(?:[ -]|$)(?:([245]\.\d{1,3}\.\d{1,3})(?:\s|$))?(.*)$/.exec(line))
  const code = lines[0]?.[1] ?? ''
  const severity = code.slice(0, 1)
  const given = lines.map((line) => line?.[2]).find((status) => status?.startsWith(severity))
  const words = lines.map((line) => line?.[3]?.trim() ?? '').filter(Boolean)
  const verdict = {
    status: given ?? `${severity || '4'}.0.0`,
    text: oneLine(`${code} ${given ?? ''} ${words.join(' ')}`),
    mta,
    ...(address !== undefined && { address }),
  }
  switch (severity) {
    case '2':
      return { kind: 'delivered', verdict }
    case '5':
      return { kind: 'refused', verdict }
    default:
      return { kind: 'deferred', verdict }
  }
}

/** A failure on the way: no answer to go by. */
export function deferredBy(status: `4.${number}.${number}`, text: string, mta?: string): Outcome {
  return { kind: 'deferred', verdict: { status, text: oneLine(text), ...(mta !== undefined && { mta }) } }
}

/** A refusal that needs no server's answer. */
export function refusedBy(status: `5.${number}.${number}`, text: string, mta?: string): Outcome {
  return { kind: 'refused', verdict: { status, text: oneLine(text), ...(mta !== undefined && { mta }) } }
}

/** Text of a stranger, fit for a row and an event. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, TEXT_LENGTH)
    .toWellFormed()
}
