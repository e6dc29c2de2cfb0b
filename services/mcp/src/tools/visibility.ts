/** Which of the mail that is left out a call has asked for. */
export interface IncludeFlags {
  readonly includeSpam?: boolean | undefined
  readonly includeBlocked?: boolean | undefined
  readonly includeUnauthenticated?: boolean | undefined
  readonly includeTrash?: boolean | undefined
}

const FLAGS = {
  spam: 'includeSpam',
  blocked: 'includeBlocked',
  unauthenticated: 'includeUnauthenticated',
  trash: 'includeTrash',
} as const satisfies Record<string, keyof IncludeFlags>

/** Whether a message is one of those that are shown only on request (mcp 3). */
export function isLeftOut(labels: readonly string[], flags: IncludeFlags): boolean {
  return Object.entries(FLAGS).some(([label, flag]) => labels.includes(label) && flags[flag] !== true)
}
