export { type CalendarOwner, timezoneOf, touchCalendar } from './calendar.ts'
export {
  addCreateKey,
  addDeletion,
  type CreateKey,
  findCreateKey,
  findDeletion,
  type StoredDeletion,
} from './keys.ts'
export { findByUid, inboxOfEvent, type LoadOptions, loadEvent, loadState, loadStates } from './load.ts'
export { deleteEventRow, saveState } from './save.ts'
