/** Limits of the tools for language models (mcp 2, 3). */
export const TOOL_LIMITS = {
  /** Entries of a list, unless the call says otherwise. */
  listed: 10,
  /** Characters of a body that one answer shows. */
  bodyCharacters: { default: 8_000, max: 100_000 },
  /** Seconds that `wait_for_message` waits; its clients commonly give a call up after 60. */
  wait: { default: 25, max: 60 },
} as const
