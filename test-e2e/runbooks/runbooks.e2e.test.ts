import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { topics } from '@restante/contracts/events'
import { root } from '@restante/local/settings.ts'
import { deadLetterGroups } from '@restante/messaging'
import { describeAtFullLength, testKafka, WebhookReceiver, waitFor } from '@restante/testkit'
import { START_TIMEOUT } from '../stack/connect.ts'
import { currentRun } from '../stack/run.ts'
import { System } from '../stack/system.ts'
import { registerApp } from '../support/apps/registration.ts'
import { examplesIn } from '../support/fenced.ts'
import { mailTo } from '../support/mail.ts'
import { newDomainName } from '../support/organizations.ts'
import { type OutsidePeer, openPeer } from '../support/peers.ts'
import { createTenant, newUsername, type Tenant } from '../support/tenants.ts'
import { type OperatedSystem, operate } from './installation.ts'

const PROGRAMS = ['bash', 'jq', 'kcat', 'psql', 'swaks']
const INDEX = 'docs/runbooks/README.md'
const runbooks = readdirSync(path.join(root, 'docs/runbooks'))
  .filter((file) => file !== path.basename(INDEX))
  .map((file) => path.parse(file).name)

/** A group of the service that the labels of the alert name. */
const GROUP = 'mail-send.tenancy'
/** Complaints of programs that end with 0 all the same, because they are not the last of a pipeline. */
const COMPLAINT = /error|usage:|no such/i

/** Commands about pods, Deployments, events and releases: only a cluster can carry them out. */
const OF_A_CLUSTER =
  /^(kubectl (get (pods|deploy|svc|events|podmonitors,networkpolicies)|describe pods|logs .*--previous|rollout (restart|status) deploy|scale|top pods)|helm history restante)/

describeAtFullLength({ programs: PROGRAMS }, 'the commands of runbook', () => {
  const folder = `${currentRun().folder}-runbooks`
  let system: System
  let tenant: Tenant
  let peer: OutsidePeer
  let receiver: WebhookReceiver
  let operated: OperatedSystem
  let variables: Readonly<Record<string, string>>

  /** An installation in which every command has something to show: mail in and out, a webhook, a domain, a dead letter. */
  beforeAll(async () => {
    await mkdir(folder, { recursive: true })
    system = await System.start(folder, { metrics: true })
    const { endpoints } = system
    ;[tenant, peer, receiver] = await Promise.all([
      createTenant(endpoints),
      openPeer(endpoints),
      new WebhookReceiver().start(),
    ])
    operated = await operate(system, folder)
    const { client } = tenant
    const { inboxId } = await client.inboxes.create({})
    const { webhookId } = await client.webhooks.create({ url: receiver.url, eventTypes: ['message.received'] })
    const domain = newDomainName()
    await client.domains.create({ domain })
    const { appId } = await registerApp(endpoints.operator, { redirect_uris: ['https://app.example/callback'] })
    const { messageId } = await mailTo({ tenant, peer }, inboxId)
    await waitFor(() => receiver.requests.some(({ body }) => body.includes(messageId)), { what: 'the webhook' })
    const late = peer.address(newUsername('late'))
    peer.server.answerRecipient(late, '451 4.7.1 Not now')
    await client.inboxes.messages.send(inboxId, { to: [late], text: 'Later' })
    await client.inboxes.messages.send(inboxId, { to: [peer.address()], text: 'Now' })
    await spoilTopic()
    variables = {
      ...operated.environment,
      service: 'mail-send',
      group: GROUP,
      kind: 'webhook-delivery',
      component: 'inbound rates',
      organization: tenant.id,
      webhook: webhookId,
      app: appId,
      destination: peer.domain,
      domain,
      offset: '0',
      INBOX: inboxId,
      SMTP_SERVER: `127.0.0.1:${endpoints.smtpPort}`,
    }
  }, START_TIMEOUT)
  afterAll(async () => {
    await receiver?.stop()
    await peer?.stop()
    await system?.stop()
    await rm(folder, { recursive: true, force: true })
  }, START_TIMEOUT)

  /** Writes what is no event to a topic, as no service of ours does. Each group that reads it gets a dead letter. */
  async function spoilTopic(): Promise<void> {
    const kafka = testKafka(system.endpoints.topicPrefix)
    const producer = kafka.producer()
    await producer.connect()
    await producer.send({ topic: kafka.physical(topics.tenancy.name), messages: [{ key: 'x', value: 'no event' }] })
    await producer.disconnect()
    await waitFor(async () => (await deadLetterGroups(kafka)).some(({ group }) => group === GROUP), {
      what: `a dead letter of ${GROUP}`,
    })
  }

  async function run(code: string): Promise<{ exit: number | null; complaints: string[] }> {
    const shell = spawn('bash', ['-e', '-u', '-c', code], { env: { ...variables }, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(shell, 'close')
    const [printed, complaints] = await Promise.all([text(shell.stdout), text(shell.stderr)])
    const [exit] = await ended
    if (process.env['PRINT_RUNBOOKS']) process.stderr.write(`\n${code}\n--\n${printed}${complaints}`)
    return { exit, complaints: complaints.split('\n').filter((line) => COMPLAINT.test(line)) }
  }

  it.each(runbooks)('%s run against an installation', async (name) => {
    const [prelude] = (await examplesIn(INDEX)).filter(({ language }) => language === 'sh')
    const blocks = (await examplesIn(`docs/runbooks/${name}.md`)).filter(({ language }) => language === 'sh')
    expect(blocks.length).toBeGreaterThan(0)
    for (const { code, line } of blocks) {
      const outcome = await run(`${prelude?.code}\n${code}`)
      expect({ block: `${name}.md:${line}`, ...outcome }).toEqual({
        block: `${name}.md:${line}`,
        exit: 0,
        complaints: [],
      })
    }
  })

  it('and all others are about pods, Deployments, events and releases of a cluster', async () => {
    const commands = await operated.clusterCommands()
    expect(commands.length).toBeGreaterThan(20)
    expect(commands.filter((command) => !OF_A_CLUSTER.test(command))).toEqual([])
  })
})
