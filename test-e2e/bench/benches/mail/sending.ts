import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { waitFor } from '@restante/testkit'
import type { Endpoints } from '../../../stack/endpoints.ts'
import { createTenant, type Tenant } from '../../../support/tenants.ts'
import type { Bench, BenchContext } from '../../harness/bench.ts'
import type { Figure } from '../../harness/figures.ts'
import { inParallel } from '../../harness/in-parallel.ts'
import { summarize } from '../../harness/statistics.ts'
import { createInboxes } from '../../load/inboxes.ts'
import { startRelayingPostfix } from '../../load/postfix.ts'
import { pidOf, usageOf } from '../../load/processes.ts'
import { SmtpSink } from '../../load/smtp-sink.ts'
import { smtpSource } from '../../load/smtp-source.ts'

const MAILS = 4_000
const DRAFTS = 10_000
const INBOXES = 40
/** Requests at the same time. */
const SENDERS = 24
/** About 10 KB, which do not compress well. */
const TEXT = Array.from(
  { length: 160 },
  (_, line) => `${line} ${'words of a mail that somebody writes '.repeat(2)}`,
).join('\n')

export const sending: Bench = {
  name: 'sending',
  about:
    'mails of 10 KB composed, signed and handed to one server, beside Postfix relaying to it, and drafts that are due at one moment',
  async run(context) {
    const sink = context.cleanUp(await new SmtpSink().start())
    const system = await context.startSystem({
      environment: {
        SMARTHOST: `127.0.0.1:${sink.port}`,
        SMARTHOST_TLS: 'none',
        DKIM_SELECTOR: 'bench',
        DKIM_KEY_FILE: await newKey(context),
      },
    })
    const tenant = await createTenant(system.endpoints)
    const inboxes = await createInboxes(tenant, INBOXES)
    const pid = pidOf(system, 'mail-send')
    context.say('warming up ...')
    await send(tenant, inboxes, sink, 'warm', context.size(MAILS) / 4)
    context.say(`${context.size(MAILS)} mails ...`)
    const cpu = (await usageOf(pid)).cpuMs
    const sent = await send(tenant, inboxes, sink, 'mail', context.size(MAILS))
    const used = (await usageOf(pid)).cpuMs - cpu
    const theirs = await relay(context, system.endpoints, sink)
    return [
      { name: 'accepted by the API', value: sent.accepted, unit: '/s' },
      {
        name: 'handed to the server',
        value: sent.handedOver,
        unit: '/s',
        goal: { atLeast: 200 },
        ...(theirs !== undefined && { reference: { what: 'Postfix smtpd, qmgr and smtp', value: theirs } }),
      },
      { name: 'CPU of mail-send per mail', value: used / context.size(MAILS), unit: 'ms' },
      ...(await sendDrafts(context, tenant, inboxes, sink)),
    ]
  },
}

async function newKey({ folder }: BenchContext): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const file = path.join(folder, 'dkim.pem')
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return file
}

async function send(tenant: Tenant, inboxes: readonly string[], sink: SmtpSink, name: string, mails: number) {
  const before = sink.mails.length
  const began = Date.now()
  await inParallel(mails, SENDERS, async (at) => {
    const to = `${at}r@${name}.example`
    await tenant.client.inboxes.messages.send(inboxes[at % INBOXES] ?? '', { to, subject: 'Bench', text: TEXT })
  })
  const accepted = (mails * 1_000) / (Date.now() - began)
  const arrived = await arrivals(sink, before, mails)
  return { accepted, handedOver: (mails * 1_000) / (Math.max(...arrived) - began) }
}

/** How many mails a second a Postfix takes, queues and hands to the same server; `undefined` where it cannot run. */
async function relay(context: BenchContext, endpoints: Endpoints, sink: SmtpSink): Promise<number | undefined> {
  const postfix = await startRelayingPostfix(context, endpoints, sink.port)
  if (postfix === undefined) return undefined
  const mails = context.size(MAILS)
  context.say(`${mails} mails by Postfix ...`)
  const before = sink.mails.length
  const load = { ...postfix, from: 'human@bench.example', recipients: ['r@postfix.example'], numbered: true }
  const began = Date.now()
  await smtpSource({ ...load, mails, sessions: SENDERS, reuse: true })
  return (mails * 1_000) / (Math.max(...(await arrivals(sink, before, mails))) - began)
}

/** Drafts are created ahead of their moment, which leaves time for that. */
async function sendDrafts(
  context: BenchContext,
  tenant: Tenant,
  inboxes: readonly string[],
  sink: SmtpSink,
): Promise<Figure[]> {
  const drafts = context.size(DRAFTS)
  const due = new Date(Date.now() + 20_000 + drafts * 15)
  context.say(`creating ${drafts} drafts that are due at ${due.toISOString()} ...`)
  await inParallel(drafts, SENDERS, async (at) => {
    const given = { to: [`${at}r@draft.example`], subject: 'Bench', text: TEXT, sendAt: due }
    await tenant.client.inboxes.drafts.create(inboxes[at % INBOXES] ?? '', given)
  })
  if (Date.now() > due.getTime()) throw new Error('the drafts took longer to create than was foreseen')
  context.say('waiting for them to leave ...')
  const before = sink.mails.length
  const late = (await arrivals(sink, before, drafts)).map((at) => at - due.getTime())
  const { p50 } = summarize(late)
  return [
    { name: 'drafts due at once, p50 of their lateness', value: p50, unit: 'ms' },
    {
      name: 'drafts due at once, the last one',
      value: Math.max(...late),
      unit: 'ms',
      goal: { atMost: 120_000 * (drafts / DRAFTS) },
    },
  ]
}

/** When each of the next mails after the first `before` had arrived. @throws Error when one of them arrives twice. */
async function arrivals(sink: SmtpSink, before: number, count: number): Promise<number[]> {
  // A length, as this asks often, beside what it measures.
  await waitFor(() => sink.mails.length >= before + count, { what: `${count} mails at the server`, timeout: 600_000 })
  const arrived = sink.mails.slice(before)
  if (new Set(arrived.map(({ recipient }) => recipient)).size !== arrived.length)
    throw new Error('a mail arrived twice')
  return arrived.map(({ at }) => at)
}
