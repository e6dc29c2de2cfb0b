import { internalOperations, LIMITS, PURGING_SERVICES } from '../src/index.ts'

it('asks exactly the services that purge inboxes, each by an operation of its own', () => {
  const asked = Object.values(internalOperations).filter(({ id }) => id.endsWith('.purgeInbox'))
  expect(asked.map(({ service }) => service)).toEqual([...PURGING_SERVICES])
  expect(new Set(asked.map(({ path }) => path)).size).toBe(asked.length)
})

it('remembers deletions for longer than anything of what is deleted may still arrive', () => {
  const { consumedMark, deadLetter, delivery, tombstone, topic } = LIMITS.retention
  expect(consumedMark).toBeGreaterThanOrEqual(topic + deadLetter)
  expect(tombstone).toBeGreaterThanOrEqual(delivery + topic + deadLetter)
})
