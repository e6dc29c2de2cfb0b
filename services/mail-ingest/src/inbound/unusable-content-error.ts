/** The bytes of a mail were refused, or broke off, before their end: nothing was stored. */
export class UnusableContentError extends Error {}
