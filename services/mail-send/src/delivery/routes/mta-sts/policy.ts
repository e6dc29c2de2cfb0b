import { validateMx } from 'mailauth/lib/mta-sts.js'

const MODES = ['enforce', 'testing', 'none'] as const
type Mode = (typeof MODES)[number]

/** What a domain requires of the servers that receive its mail (RFC 8461 3.2). */
export interface MtaStsPolicy {
  /** From the TXT record. */
  readonly id: string
  readonly mode: Mode
  readonly hosts: readonly string[]
  readonly expiresAt: Date
}

export function isMode(text: string): text is Mode {
  return MODES.some((mode) => mode === text)
}

/** Whether a policy lists an MX host (RFC 8461 4.1). */
export function lists({ mode, hosts }: Pick<MtaStsPolicy, 'mode' | 'hosts'>, host: string): boolean {
  return validateMx(host, { mode, mx: [...hosts] }).valid
}
