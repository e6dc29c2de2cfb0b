import { newEvent } from '../../src/changing/transitions/index.ts'
import { nextSequence } from '../../src/model/sequence.ts'
import { oneOff } from '../dates/states.ts'

const MOST = 2_147_483_647

it('a sequence stays within its range, whether it is received or raised', () => {
  const { event } = oneOff('2030-01-07T09:00:00', '2030-01-07T10:00:00')
  const mail = { message_id: '<m1@example.org>', stamped_at: new Date(), sequence: 99_999_999_999 }
  const cause = { operationId: event.id, at: new Date(), address: 'desk@example.com', mail }
  expect(newEvent({ ...event, source: 'email' }, cause).event).toMatchObject({ sequence: MOST, time_sequence: MOST })
  expect([nextSequence(7), nextSequence(MOST - 1), nextSequence(MOST)]).toEqual([8, MOST, MOST])
})
