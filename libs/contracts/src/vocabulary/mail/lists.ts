/** What an allow or block list applies to (mail 12): recipients, senders of new mail, or senders of answers. */
export const LIST_DIRECTIONS = ['send', 'receive', 'reply'] as const
export type ListDirection = (typeof LIST_DIRECTIONS)[number]

export const LIST_TYPES = ['allow', 'block'] as const
export type ListType = (typeof LIST_TYPES)[number]

/** An exact address, or every address of exactly one domain. */
export const LIST_ENTRY_TYPES = ['email', 'domain'] as const
