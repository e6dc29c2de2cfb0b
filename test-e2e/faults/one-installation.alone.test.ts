import { describeWith } from '@restante/testkit'
import { describeFlush } from './flush.ts'
import { describeFollowers } from './followers.ts'
import { INSTALLATION_TIMEOUT, Installation, MISSING_ENGINES } from './harness/installation.ts'
import { describeKills } from './kill.ts'
import { describeOutages } from './outages.ts'

/** One installation suffers one fault after another, as in production. Each test counts everything since the start. */
describeWith({ programs: [], missing: MISSING_ENGINES }, 'an installation', () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await Installation.start({ name: 'faults' })
  }, INSTALLATION_TIMEOUT)
  afterAll(() => installation?.stop(), INSTALLATION_TIMEOUT)
  const started = () => installation

  describe('of which an engine is down for a while', () => describeOutages(started))
  describe('whose Redis is flushed', () => describeFlush(started))
  describe('whose way of events is killed', () => describeFollowers(started))
  describe('of which one part after another is killed while mail arrives', () => describeKills(started))
})
