import { SERVICES } from '@restante/contracts/vocabulary'
import { engineNames } from '@restante/local/engines/engine.ts'
import { canRun } from '@restante/local/engines/packages.ts'
import { describeAtFullLength, waitFor } from '@restante/testkit'
import { lastRelease } from '@restante/tools/releases/releases.ts'
import { INSTALLATION_TIMEOUT, Installation } from '../faults/harness/installation.ts'
import { shuffled } from '../faults/shuffled.ts'
import { present, type Sources } from '../stack/sources.ts'
import { createTenant } from '../support/tenants.ts'
import { describeBrokenSchema } from './broken-schema.ts'
import { type Bystander, leaveRows, useEverything } from './core.ts'
import { describeLeftWork } from './left-work.ts'
import { INSTALL_TIMEOUT, releasedSources } from './released-sources.ts'
import { type Flow, flowing, roll, rollAll } from './rolling.ts'
import { changedWithoutRows, tablesOf } from './tables.ts'

const SEED = 20_261_124
const release = await lastRelease()
const native = await canRun(engineNames)

/** Half a minute for each restart of a process, of which there are 4 for each service in each of the two tests. */
const ROLLING_TIMEOUT = 900_000

describeAtFullLength(
  { programs: ['haproxy'], missing: native ? [] : ['native engines'] },
  `this release and ${release.version}`,
  () => {
    let old: Sources
    let installation: Installation
    let bystander: Bystander
    let flow: Flow
    beforeAll(async () => {
      old = await releasedSources(release)
      const environment = { SHUTDOWN_GRACE: '25s' }
      installation = await Installation.start({ name: 'releases', replicas: 2, sources: old, environment })
      const { endpoints } = installation.system
      bystander = { endpoints, tenant: await createTenant(endpoints, old), peer: installation.peer }
    }, INSTALL_TIMEOUT + INSTALLATION_TIMEOUT)
    // A test that fails must not leave its mail flowing: the next ones count theirs.
    afterEach(() => flow?.stop())
    afterAll(() => installation?.stop(), INSTALLATION_TIMEOUT)

    /** Expects that the mail of the test reached its destinations once, and that no request failed. */
    async function expectUnbroken(): Promise<void> {
      await flow.stop()
      await installation.expectEverything()
      expect(flow.failedRequests()).toEqual([])
      expect(installation.deliveredTwice()).toEqual([])
      expect(installation.arrivedTwice()).toEqual([])
    }

    it('migrate databases and topics while the services of the earlier one work on them, which then do all they did', async () => {
      flow = await flowing(installation)
      const { resources } = installation.engines
      await useEverything(bystander, 'before')
      await leaveRows(bystander, old)
      const before = await tablesOf(resources)
      await present.prepare(resources)
      expect(changedWithoutRows(before, await tablesOf(resources))).toEqual([])
      await old.checkTopics(resources)
      await useEverything(bystander, 'after')
      await expectUnbroken()
    }, 180_000)

    it.each(shuffled([...SERVICES], SEED))(
      'lose nothing and do nothing twice when %s alone is upgraded under load, and goes back',
      async (name) => {
        flow = await flowing(installation)
        await roll(installation, name, present)
        await useEverything(bystander, `${name} ahead`)
        await roll(installation, name, old)
        await expectUnbroken()
      },
      240_000,
    )

    it(
      'lose nothing and do nothing twice when all services are upgraded under load',
      async () => {
        flow = await flowing(installation)
        await rollAll(installation, shuffled([...SERVICES], SEED + 1), present)
        await useEverything(bystander, 'upgraded')
        await expectUnbroken()
      },
      ROLLING_TIMEOUT,
    )

    it.each(shuffled([...SERVICES], SEED + 2))(
      'lose nothing and do nothing twice when %s alone goes back under load, and is upgraded again',
      async (name) => {
        flow = await flowing(installation)
        await roll(installation, name, old)
        await useEverything(bystander, `${name} behind`)
        await roll(installation, name, present)
        await expectUnbroken()
      },
      240_000,
    )

    it(
      'lose nothing and do nothing twice when all services go back under load',
      async () => {
        flow = await flowing(installation)
        await rollAll(installation, shuffled([...SERVICES], SEED + 3), old)
        // What `helm upgrade` to the earlier chart runs; its databases are ahead of it.
        await old.ensureTopics(installation.engines.resources)
        await useEverything(bystander, 'back')
        await expectUnbroken()
        await waitFor(() => installation.stream.subscribed, { what: 'the stream to be back' })
      },
      ROLLING_TIMEOUT,
    )

    describeLeftWork(
      'finish after an upgrade, each once, the work that the earlier release left in tables and queues',
      () => installation,
      () => ({ from: old, to: present }),
    )
    describeLeftWork(
      'finish after a rollback, each once, the work that the later release left in tables and queues',
      () => installation,
      () => ({ from: present, to: old }),
    )

    // The last test, because the schema stays broken.
    describeBrokenSchema('fail these tests when a column of the schema has another name', () => installation)
  },
)
