export type { Method, ReadAttendee, ReadEvent, ReadFile, ReadPeriod, ReadResult, ReadTime } from './read-file.ts'
export { type CalendarReader, createCalendarReader } from './reader.ts'
