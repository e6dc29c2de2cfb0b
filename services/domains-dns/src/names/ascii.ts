import { LIMITS } from '@restante/contracts/vocabulary'
import { toASCII, toUnicode } from 'tr46'

/**
 * IDNA 2008 by UTS #46, non-transitional. Hyphens are checked here instead: the library would also refuse names such as
 * `r3--a`, which exist.
 */
const RULES = {
  checkBidi: true,
  checkJoiners: true,
  useSTD3ASCIIRules: true,
  transitionalProcessing: false,
  ignoreInvalidPunycode: false,
} as const

/** A label of 63 octets stands for fewer characters than that, and a character has at most two code units. */
const LONGEST_INPUT = 2 * LIMITS.domain.name.max

/**
 * The compared form of a domain name: lower case, in A-labels, without a dot at its end (domains 1).
 * @returns undefined when it is no name of a host.
 */
export function asciiName(text: string): string | undefined {
  if (text.length > LONGEST_INPUT) return undefined
  const name = toASCII(text.replace(/\.$/, ''), { ...RULES, verifyDNSLength: true })
  if (name === null) return undefined
  const labels = toUnicode(name, RULES).domain.split('.')
  return [...name.split('.'), ...labels].some(hasHyphenAtEnd) ? undefined : name
}

function hasHyphenAtEnd(label: string): boolean {
  return label.startsWith('-') || label.endsWith('-')
}
