import { type Author, addressesInFrom, authorOf } from '../addresses/author.ts'
import { withDefaults } from '../limits/default-limits.ts'
import { newBudget, type ParseLimits } from '../limits/limits.ts'
import { describeHeader, type MailHeader, type ParsedMail, parseStructure } from '../parse/mail.ts'
import { readRootFields, readStructure } from '../parse/structure.ts'
import { type Report, reportIn } from '../reports/report.ts'
import { type ReadMail, readWithin } from './read-mail.ts'

/** Reads a mail. Accepts any bytes, in time linear to their number, and never throws because of them. */
export function parse(raw: Buffer, limits?: Partial<ParseLimits>): ParsedMail {
  const budget = newBudget(withDefaults(limits))
  return parseStructure(raw, readStructure(raw, budget), budget)
}

/** Reads only the header, for mail that is stored unparsed. Never throws. */
export function parseHeadersOnly(raw: Buffer, limits?: Partial<ParseLimits>): MailHeader {
  const budget = newBudget(withDefaults(limits))
  return describeHeader(raw, readRootFields(raw, budget), budget)
}

/**
 * The author of a mail: what the mailbox shows as `from`, and the one address that sender authentication must check.
 * Both must come from here, on the same bytes. Accepts any bytes, in time linear to the header; never throws.
 * @param raw the mail as it arrived, or its header
 */
export function readAuthor(raw: Buffer, limits?: Partial<ParseLimits>): Author {
  return authorOf(raw, withDefaults(limits))
}

/**
 * The addresses that a mail without exactly one author mentions in `From`, at most 20, each in the form in which addresses
 * are compared. Accepts any bytes, in time linear to the header; never throws.
 * @param raw the mail as it arrived, or its header
 */
export function readMentioned(raw: Buffer, limits?: Partial<ParseLimits>): string[] {
  return addressesInFrom(raw, withDefaults(limits))
}

/**
 * The report that a mail contains, or undefined when it is not a report. Recognised by its parts, not by its subject.
 * Never throws.
 */
export function readReport(raw: Buffer, limits?: Partial<ParseLimits>): Report | undefined {
  const budget = newBudget(withDefaults(limits))
  return reportIn(raw, readStructure(raw, budget), budget)
}

/** Parses a mail and derives everything from it, reading its structure once. */
export function readMail(raw: Buffer, limits?: Partial<ParseLimits>): ReadMail {
  return readWithin(raw, withDefaults(limits))
}
