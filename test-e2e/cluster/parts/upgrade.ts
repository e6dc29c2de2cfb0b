import assert from 'node:assert/strict'
import { underLoad } from '@restante/testkit'
import { findInstallation } from '../harness/installation.ts'
import { components, helm, podsOf, RELEASE, ROLL_OUT, rolledOut } from '../harness/kubernetes.ts'
import type { Part } from '../harness/scene.ts'
import { type Flow, Traffic } from '../harness/traffic.ts'
import { installOptions } from './install.ts'

/** A setting that the upgrade changes and the rollback restores, visible in every inbox created from then on. */
const DISPLAY_NAME = 'Upgraded'

/** The release gets other images and another setting while mail flows. */
export const upgrade: Part = {
  name: 'helm upgrade under load loses nothing and fails no request',
  async run({ server, current }) {
    const result = await whileMailFlows(server, 'Upgraded', async () => {
      await helm(
        'upgrade',
        RELEASE,
        ...installOptions(current),
        '--set',
        `settings.DEFAULT_DISPLAY_NAME=${DISPLAY_NAME}`,
      )
    })
    await expectEverywhere(current)
    assert.equal(await displayNameOfNewInbox(result.traffic), DISPLAY_NAME)
    return result.words
  },
}

/** The release goes back by itself: images and settings. */
export const rollback: Part = {
  name: 'helm rollback under load restores images and settings, loses nothing and fails no request',
  async run({ server, earlier }) {
    const result = await whileMailFlows(server, 'Rolled back', async () => {
      await helm('rollback', RELEASE, '1', '--wait', `--timeout=${ROLL_OUT}`)
    })
    await expectEverywhere(earlier)
    assert.notEqual(await displayNameOfNewInbox(result.traffic), DISPLAY_NAME)
    return result.words
  },
}

async function whileMailFlows(server: Parameters<typeof findInstallation>[0], name: string, work: () => Promise<void>) {
  const traffic = await Traffic.open(await findInstallation(server), name)
  const flow = await traffic.during(async () => {
    await work()
    for (const component of await components()) await rolledOut(component)
  })
  await traffic.close()
  const late = lateRequests(flow)
  assert.deepEqual(
    flow.failedRequests.filter((failure) => !late.includes(failure)),
    [],
  )
  // A mail server gets 421 or loses its connection, and retries, as SMTP specifies.
  const unexpected = flow.smtpSetbacks.filter((setback) => !/\b4\d\d\b|closed|ECONNRESET/i.test(setback))
  assert.deepEqual(unexpected, [])
  const words = [
    `${flow.mails} mails, ${flow.webhooks} reported, ${flow.replies} replies`,
    `no request broken or refused, ${late.length} over a time limit of the overloaded machine`,
    `${flow.smtpSetbacks.length} mails deferred and sent again`,
  ].join('; ')
  return { traffic, words }
}

/**
 * Requests that were not answered within a time limit, on a machine that has so much other work that nothing else can be
 * expected; otherwise none. A broken or refused connection is never among them.
 */
function lateRequests({ failedRequests }: Flow): readonly string[] {
  if (underLoad(1) === 1) return []
  return failedRequests.filter((failure) => /TimeoutError|: 503 \{/.test(failure))
}

/** Expects that every pod of the release runs the image of a tag. */
async function expectEverywhere(tag: string): Promise<void> {
  const others = (await podsOf()).filter(({ image }) => !image.endsWith(`:${tag}`))
  assert.deepEqual(others, [])
}

async function displayNameOfNewInbox({ tenant }: Traffic): Promise<string | undefined> {
  const { displayName } = await tenant.client.inboxes.create({})
  return displayName
}
