export { type CalendarOwner, timezoneOf, touchCalendar } from './calendar.ts'
export {
  addCreateKey,
  addDeletion,
  type CreateKey,
  findCreateKey,
  findDeletion,
} from './keys.ts'
export { findByUid, loadEvent, loadState, loadStates } from './load.ts'
export { deleteEventRow, saveState, stampEvent } from './save.ts'
