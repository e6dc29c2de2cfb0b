/** The answer about one recipient, and who gave it. */
export interface Verdict {
  /** Enhanced status code (RFC 3463): `4.2.2`, `5.1.1`. */
  readonly status: string
  /** The answer in words, for operators. */
  readonly text: string
  /** The host name that answered; absent when none was reached. */
  readonly mta?: string
  /** Its IP address. */
  readonly address?: string
  /** It was given before the recipient was named, so it says nothing about that. */
  readonly isAboutSender?: true
}

/** Outcome of one attempt for one recipient. */
export type Outcome =
  /** A server accepted the message and is responsible for it now. */
  | { readonly kind: 'delivered'; readonly verdict: Verdict }
  /** Refused permanently: another attempt would be refused again. */
  | { readonly kind: 'refused'; readonly verdict: Verdict }
  /** Refused temporarily. */
  | { readonly kind: 'deferred'; readonly verdict: Verdict }

const TEXT_LENGTH = 1_000

/**
 * Reads a reply of an SMTP server (RFC 5321 4.2, RFC 2034). The basic code decides between success, temporary and
 * permanent failure; a missing enhanced status is derived from its first digit.
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

/** A failure without a server's reply. */
export function deferredBy(status: `4.${number}.${number}`, text: string, mta?: string): Outcome {
  return { kind: 'deferred', verdict: { status, text: oneLine(text), ...(mta !== undefined && { mta }) } }
}

/** A refusal that needs no server's reply. */
export function refusedBy(status: `5.${number}.${number}`, text: string, mta?: string): Outcome {
  return { kind: 'refused', verdict: { status, text: oneLine(text), ...(mta !== undefined && { mta }) } }
}

/** Text of a foreign server, made fit for a row and an event. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, TEXT_LENGTH)
    .toWellFormed()
}
