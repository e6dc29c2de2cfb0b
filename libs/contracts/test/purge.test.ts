import { internalOperations, PURGING_SERVICES } from '../src/internal/index.ts'
import { LIMITS } from '../src/vocabulary/index.ts'

it('the purge of an inbox is requested of exactly the services that store its data, each by its own operation', () => {
  const asked = Object.values(internalOperations).filter(({ id }) => id.endsWith('.purgeInbox'))
  expect(asked.map(({ service }) => service)).toEqual([...PURGING_SERVICES])
  expect(new Set(asked.map(({ path }) => path)).size).toBe(asked.length)
})

it('tombstones outlive every late event about a deleted resource', () => {
  const { consumedMark, deadLetter, delivery, tombstone, topic } = LIMITS.retention
  expect(consumedMark).toBeGreaterThanOrEqual(topic + deadLetter)
  expect(tombstone).toBeGreaterThanOrEqual(delivery + topic + deadLetter)
})
