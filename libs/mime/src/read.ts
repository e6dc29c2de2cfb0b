import { withDefaults } from './parse/default-limits.ts'
import { newBudget, type ParseLimits } from './parse/limits.ts'
import { describeHeader, type MailHeader, type ParsedMail, parseStructure } from './parse/mail.ts'
import { readRootFields, readStructure } from './parse/structure.ts'
import { type Report, reportIn } from './reports/report.ts'
import { type ReadMail, readWithin } from './worker/read-mail.ts'

/** Reads a mail. Takes any bytes, in time linear to their number, and never throws for what is in them. */
export function parse(raw: Buffer, limits?: Partial<ParseLimits>): ParsedMail {
  const budget = newBudget(withDefaults(limits))
  return parseStructure(raw, readStructure(raw, budget), budget)
}

/** Reads the header alone, for mail that is stored unparsed. Never throws. */
export function parseHeadersOnly(raw: Buffer, limits?: Partial<ParseLimits>): MailHeader {
  const budget = newBudget(withDefaults(limits))
  return describeHeader(readRootFields(raw, budget), budget)
}

/** The report that a mail is, or undefined when it is none. Recognised by its parts, not by its subject. Never throws. */
export function readReport(raw: Buffer, limits?: Partial<ParseLimits>): Report | undefined {
  const budget = newBudget(withDefaults(limits))
  return reportIn(raw, readStructure(raw, budget), budget)
}

/** Parses a mail and derives everything from it, reading its structure once. */
export function readMail(raw: Buffer, limits?: Partial<ParseLimits>): ReadMail {
  return readWithin(raw, withDefaults(limits))
}
