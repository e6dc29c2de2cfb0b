import { SYSTEM_LABELS } from '@restante/contracts/vocabulary'
import type { Tx } from '@restante/service/database'
import type { MessageRow } from '../mailbox/rows/rows.ts'
import { takeOvers } from './table.ts'

interface Labelled {
  readonly message: MessageRow
  /** Number of take-overs of the organization when a caller asked for the labels (identity 5.1); undefined: not known. */
  readonly takeOvers: number | undefined
}

/**
 * Messages that are about to be stored, without the custom labels that were asked for before a take-over which has been
 * confirmed since. Of what is stored before the confirmation is consumed, the removal of labels takes them.
 */
export async function withoutEarlierLabels<Message extends Labelled>(
  tx: Tx,
  messages: readonly Message[],
): Promise<Message[]> {
  const labelled = messages.filter(({ message }) => !message.labels.every(isSystemLabel))
  const confirmed = await takeOvers.confirmed(
    tx,
    labelled.map(({ message }) => message.organization_id),
  )
  return messages.map((one) => {
    const { message, takeOvers: number } = one
    if (number === undefined || number >= (confirmed.get(message.organization_id) ?? 0)) return one
    const labels = message.labels.filter(isSystemLabel)
    return { ...one, message: { ...message, labels, arrival_labels: labels } }
  })
}

function isSystemLabel(label: string): boolean {
  return SYSTEM_LABELS.includes(label)
}
