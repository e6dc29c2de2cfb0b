import { type OperationDefinition, operations, pathsOf, UPGRADE } from '@restante/contracts/operations'
import { Router } from '@restante/service/http'
import { missingPython } from '@restante/testkit'
import { newSignedInApp } from '../support/apps/accounts.ts'
import { invite } from '../support/calendars.ts'
import { codeFor, mailTo, SPAM_TEXT } from '../support/mail.ts'
import type { Answers } from '../support/programs/conversation.ts'
import { describeWith } from '../support/programs/programs.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'
import { publicPackages, runPython } from './program.ts'

/** Attachments, by the names that the programs use. */
const FILES: Readonly<Record<string, { readonly filename: string; readonly content: string }>> = {
  receipt: { filename: 'receipt.pdf', content: '%PDF-1.4 not really' },
  note: { filename: 'note.rtf', content: '{\\rtf1 Approved by Ada}' },
}

/** The first run on a machine installs the packages. */
const INSTALL_TIMEOUT = 180_000

describeWith({ programs: ['python3'], missing: missingPython() }, 'the public Python client', () => {
  const system = useSystem()
  beforeAll(() => publicPackages(), INSTALL_TIMEOUT)

  /** Handlers of the requests of a program: names, humans, and mails from them. */
  const answers: Answers = {
    name: () => ({ name: newUsername('py') }),
    human: () => ({ address: system.peer.address(newUsername('human')) }),
    code: async ({ human }) => ({ code: await codeFor(system.peer, String(human)) }),
    mail: async ({ to, subject, attachment, slashed }) => {
      const messageId = `<${slashed === true ? 'project/issue/' : ''}${newUsername('id')}@${system.peer.domain}>`
      await system.peer.send({
        to: String(to),
        subject: String(subject),
        text: 'How are you?',
        messageId,
        ...(attachment !== undefined && { attachments: [FILES[String(attachment)] ?? {}] }),
      })
      return { message_id: messageId }
    },
    invitation: async ({ to }) => ({ event_id: await invite(system.peer, system.tenant.api, String(to)) }),
    app: async ({ inbox }) => newSignedInApp(system.endpoints, String(inbox)),
    spam: async ({ to }) => {
      await mailTo(system, String(to), { text: SPAM_TEXT })
    },
  }

  it('calls every existing operation that it offers, with None for absent members', async () => {
    const { offered, requests } = await runPython('walk.py', system.endpoints, system.tenant.key, answers)
    const offers = new Set(strings(offered))
    const router = new Router<string>()
    const wanted: string[] = []
    for (const operation of Object.values<OperationDefinition>(operations)) {
      for (const { path } of pathsOf(operation)) {
        const route = `${operation.method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
        router.add(operation.method, path, route)
        if (operation.response !== UPGRADE && offers.has(route)) wanted.push(route)
      }
    }
    const walked = new Set(
      strings(requests).map((request) => {
        const [method = '', path = ''] = request.split(' ')
        const match = router.match(method, path)
        return match !== undefined && 'value' in match ? match.value : undefined
      }),
    )
    expect(wanted.length).toBeGreaterThan(55)
    expect(wanted.filter((route) => !walked.has(route))).toEqual([])
  })

  it('works with every tool of the public toolkit whose operation exists', async () => {
    const { used } = await runPython('tools.py', system.endpoints, system.tenant.key, answers)
    expect(strings(used).length).toBeGreaterThanOrEqual(13)
  })

  it('lets programs in the shape of the public templates answer mail, by webhook and by socket, and no spam', async () => {
    expect(await runPython('templates.py', system.endpoints, system.tenant.key, answers)).toEqual({})
  })
})

function strings(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`)
  return value.map(String)
}
