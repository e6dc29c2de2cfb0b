import { normalizeAddress } from '@restante/mime'

/** What a report says of one address. */
interface ReportedRecipient {
  readonly address?: string | undefined
  readonly action: string
}

/**
 * The failure that a report means for a delivery: what it says of the recipient of the delivery, if it names it; otherwise
 * its first failure, because the recipient may have been an alias or a list. Undefined where it says otherwise of the
 * recipient, or of nobody that the mail has failed.
 */
export function failureOf<R extends ReportedRecipient>(recipients: readonly R[], recipient: string): R | undefined {
  const own = recipients.filter(({ address }) => address !== undefined && isSame(address, recipient))
  return (own.length > 0 ? own : recipients).find(({ action }) => action === 'failed')
}

function isSame(one: string, other: string): boolean {
  return normalizeAddress(one) === normalizeAddress(other)
}
