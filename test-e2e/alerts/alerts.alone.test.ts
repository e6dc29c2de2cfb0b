import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { topics } from '@restante/contracts/events'
import { SERVICES } from '@restante/contracts/vocabulary'
import { engineNames } from '@restante/local/engines/engine.ts'
import { canRun } from '@restante/local/engines/packages.ts'
import { root } from '@restante/local/settings.ts'
import { describeAtFullLength, SmtpSession, testKafka, WebhookReceiver, waitFor } from '@restante/testkit'
import { OwnEngines } from '../faults/harness/own-engines.ts'
import { START_TIMEOUT } from '../stack/connect.ts'
import { currentRun } from '../stack/run.ts'
import { present } from '../stack/sources.ts'
import { System } from '../stack/system.ts'
import { mailTo } from '../support/mail.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'
import { Prometheus } from './prometheus.ts'

const UNIT_TESTS = path.join(root, 'deploy/observability/test/rules')
const TEST_TIMEOUT = 300_000
const engines = await canRun(engineNames)

/** On a machine that is busy with other tests these are right to fire. */
const ABOUT_SPEED = new Set(['RestanteApiSlow', 'RestanteEventLoopSlow'])

/** Labels of targets, and labels whose values depend on names that are not those of this installation. */
const OPEN_LABELS = new Set([
  'job',
  'workload',
  'instance',
  'namespace',
  'service',
  'destination',
  'component',
  'operation',
  'group',
])

/** Reported only where certificates of tracking hosts are ordered, which needs an authority. */
const OF_AN_AUTHORITY = 'restante_certificates'

/** A series of a test of an installation that has answered nothing with this status yet. */
const BY_STATUS = 'restante_http_requests_total'

/** The series of the unit tests, with their labels of fixed values. */
async function seriesOfUnitTests(): Promise<readonly string[]> {
  const files = (await readdir(UNIT_TESTS)).filter((file) => file.endsWith('.yaml'))
  const texts = await Promise.all(files.map((file) => readFile(path.join(UNIT_TESTS, file), 'utf8')))
  const selectors = texts
    .flatMap((text) => [...text.matchAll(/- series: '(\w+)\{(.*?)\}'/g)])
    .map(([, name = '', labels = '']) => {
      const fixed = [...labels.matchAll(/(\w+)="([^"]*)"/g)].filter(
        ([, label = '']) => !OPEN_LABELS.has(label) && !(name === BY_STATUS && label === 'status'),
      )
      return `${name}{${fixed.map(([pair]) => pair).join(',')}}`
    })
  return [...new Set(selectors)].toSorted()
}

describeAtFullLength(
  { programs: ['prometheus'], missing: engines ? [] : ['native engines'] },
  'Prometheus with the alerts',
  () => {
    const folder = `${currentRun().folder}-alerts`
    let ownEngines: OwnEngines
    let system: System
    let prometheus: Prometheus
    let tenant: Tenant
    let peer: OutsidePeer
    let receiver: WebhookReceiver
    let inboxId: string

    beforeAll(async () => {
      ownEngines = await OwnEngines.start(folder, present)
      system = await System.start(folder, { resources: ownEngines.resources, metrics: true })
      const { endpoints } = system
      ;[prometheus, tenant, peer, receiver] = await Promise.all([
        Prometheus.start(system, folder),
        createTenant(endpoints),
        openPeer(endpoints),
        new WebhookReceiver().start(),
      ])
      // What was counted before the first scrape is no increase.
      await prometheus.holds(`count(up{job="restante"} == 1) == ${SERVICES.length}`)
      inboxId = (await tenant.client.inboxes.create({})).inboxId
      await tenant.client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
    }, START_TIMEOUT)
    afterAll(async () => {
      await prometheus?.stop()
      await receiver?.stop()
      await peer?.stop()
      await system?.stop()
      await ownEngines?.stop()
      await rm(folder, { recursive: true, force: true })
    }, START_TIMEOUT)

    const sendTo = (address: string) =>
      tenant.client.inboxes.messages.send(inboxId, { to: [address], subject: 'Report', text: 'Text' })

    it(
      'fires RestanteDeliveriesStuck while no other server accepts mail, until one does',
      async () => {
        const people = Array.from({ length: 10 }, () => peer.address(newUsername('late')))
        for (const person of people) {
          peer.server.answerRecipient(person, ...Array<'451 4.3.0 Not now'>(50).fill('451 4.3.0 Not now'))
          await sendTo(person)
        }
        const { annotations } = await prometheus.fires('RestanteDeliveriesStuck', { namespace: 'mail' })
        expect(annotations.summary).toBe('No mail has left mail for 15 minutes, although deliveries were attempted')
        await sendTo(peer.address())
        await prometheus.ends('RestanteDeliveriesStuck')
      },
      TEST_TIMEOUT,
    )

    it(
      'fires none while mail arrives, leaves and is announced',
      async () => {
        const { messageId } = await mailTo({ tenant, peer }, inboxId)
        await waitFor(() => receiver.requests.some(({ body }) => body.includes(messageId)), { what: 'the webhook' })
        await prometheus.holds('restante_webhook_attempts_total{decision="delivered"} > 0')
        const firing = (await prometheus.firing()).map(({ labels }) => labels.alertname)
        expect(firing.filter((name) => !ABOUT_SPEED.has(name))).toEqual([])
      },
      TEST_TIMEOUT,
    )

    it(
      'has every series that unit tests of the alerts use',
      async () => {
        const missing: string[] = []
        for (const selector of await seriesOfUnitTests()) {
          if (selector.startsWith(`${OF_AN_AUTHORITY}{`)) continue
          if ((await prometheus.series(selector)).length === 0) missing.push(selector)
        }
        expect(missing).toEqual([])
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteWebhooksNotDelivered when the receivers are down',
      async () => {
        receiver.always(503)
        for (let mail = 0; mail < 30; mail++) await mailTo({ tenant, peer }, inboxId)
        await prometheus.fires('RestanteWebhooksNotDelivered', { namespace: 'mail', severity: 'ticket' })
        receiver.always(200)
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteDeadLetters for an event that is none',
      async () => {
        const kafka = testKafka('', ownEngines.resources.urls.KAFKA_BROKERS.split(','))
        const producer = kafka.producer()
        await producer.connect()
        await producer.send({ topic: kafka.physical(topics.tenancy.name), messages: [{ key: 'x', value: 'no event' }] })
        await producer.disconnect()
        await prometheus.fires('RestanteDeadLetters', { group: 'mail-send.tenancy', reason: 'invalid' })
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteKafkaUnreachable, RestanteConsumerStopped and RestanteOutboxLate without Kafka, until it is back',
      async () => {
        await ownEngines.kill('kafka')
        await mailTo({ tenant, peer }, inboxId)
        await prometheus.fires('RestanteKafkaUnreachable', { service: 'gateway' })
        await prometheus.fires('RestanteConsumerStopped', { service: 'webhooks-dispatcher' })
        await prometheus.fires('RestanteOutboxLate', { service: 'mail-ingest' })
        await ownEngines.restart('kafka')
        for (const name of ['RestanteKafkaUnreachable', 'RestanteConsumerStopped', 'RestanteOutboxLate'])
          await prometheus.ends(name)
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteQueueRedisDown and RestanteRateLimitsNotShared without Redis, until it is back',
      async () => {
        await ownEngines.kill('redis')
        await prometheus.fires('RestanteQueueRedisDown', { service: 'webhooks-dispatcher' })
        await prometheus.fires('RestanteRateLimitsNotShared')
        await ownEngines.restart('redis')
        await prometheus.ends('RestanteQueueRedisDown')
        await prometheus.ends('RestanteRateLimitsNotShared')
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteDatabaseFailing, RestanteMailDeferred, RestanteApiErrors and RestanteServiceNotReady without PostgreSQL',
      async () => {
        await ownEngines.kill('postgres')
        const { endpoints } = system
        const session = await SmtpSession.open(endpoints.smtpPort, { localAddress: peer.server.host })
        for (let mail = 0; mail < 8; mail++) {
          expect(await session.envelope(peer.address(), inboxId)).toMatchObject({ code: 451 })
          await session.command('RSET')
        }
        await session.quit()
        // Again and again: a counter that has its first value at a scrape has not increased yet.
        const asking = setInterval(() => void tenant.api.get('/v0/inboxes').catch(() => undefined), 500)
        try {
          await prometheus.fires('RestanteDatabaseFailing', { service: 'gateway' })
          await prometheus.fires('RestanteServiceNotReady', { service: 'mail-ingest' })
          await prometheus.fires('RestanteMailDeferred', { severity: 'page' })
          await prometheus.fires('RestanteApiErrors', { severity: 'page' })
        } finally {
          clearInterval(asking)
        }
        await ownEngines.restart('postgres')
        await prometheus.ends('RestanteServiceNotReady')
      },
      TEST_TIMEOUT,
    )

    it(
      'fires RestanteServiceDown for a service without a process, with a text that names it',
      async () => {
        await system.process('mail-send').stop('SIGKILL')
        const { annotations } = await prometheus.fires('RestanteServiceDown', { service: 'mail-send' })
        expect(annotations.summary).toBe('No process of mail-send in mail answers')
        for (const alert of await prometheus.firing())
          expect(Object.values(alert.annotations).join()).not.toMatch(/<no value>|%!|<error/)
      },
      TEST_TIMEOUT,
    )
  },
)
