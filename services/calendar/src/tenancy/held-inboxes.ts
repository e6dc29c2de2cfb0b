import { heldInboxes as heldIn } from '@restante/tenancy'
import { INBOX_TABLES } from './tables.ts'

/** The inboxes of which this service has data. */
export const heldInboxes = heldIn(['events', ...INBOX_TABLES], ['calendars'])
