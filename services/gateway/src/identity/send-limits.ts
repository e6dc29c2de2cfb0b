import { type OwnSendLimits, ownSendLimits } from '@restante/contracts/access'

/** The limits of sends that the operator has set for an organization, as its row has them. */
export function sendLimitsFromRow(column: unknown): OwnSendLimits {
  return ownSendLimits.parse(column)
}
