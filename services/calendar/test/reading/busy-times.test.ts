import { type BusySpan, busyTimes } from '../../src/reading/free-busy/busy-times.ts'

const at = (time: string) => new Date(`2026-10-07T${time}Z`)
const span = (from: string, to: string, status: BusySpan['status'] = 'busy'): BusySpan => ({
  from: at(from).getTime(),
  to: at(to).getTime(),
  status,
})
const day = { after: at('08:00:00.500'), before: at('18:00:00.500') }

/** Busy times as `busy 09:00:00-10:00:00`. */
const shown = (...spans: BusySpan[]) =>
  busyTimes(spans, day).map(
    ({ status, start_at, end_at }) => `${status} ${start_at.slice(11, 19)}-${end_at.slice(11, 19)}`,
  )

it('joins busy times that overlap or touch, in whatever order they come', () => {
  expect(shown(span('12:00:00', '13:00:00'), span('09:00:00', '10:00:00'), span('10:00:00', '11:00:00'))).toEqual([
    'busy 09:00:00-11:00:00',
    'busy 12:00:00-13:00:00',
  ])
  expect(shown(span('09:00:00', '12:00:00'), span('10:00:00', '11:00:00'))).toEqual(['busy 09:00:00-12:00:00'])
})

it('lets certain times cover tentative ones and shows what is left of these', () => {
  const tentative = span('09:00:00', '15:00:00', 'tentative')
  expect(shown(tentative, span('10:00:00', '11:00:00'), span('12:00:00', '13:00:00'))).toEqual([
    'tentative 09:00:00-10:00:00',
    'busy 10:00:00-11:00:00',
    'tentative 11:00:00-12:00:00',
    'busy 12:00:00-13:00:00',
    'tentative 13:00:00-15:00:00',
  ])
  expect(shown(span('09:00:00', '10:00:00', 'tentative'), span('08:30:00', '11:00:00'))).toEqual([
    'busy 08:30:00-11:00:00',
  ])
})

it('lets one certain time cover the end of a tentative one and the begin of the next', () => {
  const tentative = [span('09:00:00', '11:00:00', 'tentative'), span('12:00:00', '14:00:00', 'tentative')]
  expect(shown(...tentative, span('10:00:00', '13:00:00'))).toEqual([
    'tentative 09:00:00-10:00:00',
    'busy 10:00:00-13:00:00',
    'tentative 13:00:00-14:00:00',
  ])
})

it('cuts busy times to whole seconds within the window', () => {
  expect(shown(span('07:00:00', '09:00:00'), span('17:00:00', '19:00:00'), span('20:00:00', '21:00:00'))).toEqual([
    'busy 08:00:01-09:00:00',
    'busy 17:00:00-18:00:00',
  ])
})
