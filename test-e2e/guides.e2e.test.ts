import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { Wire } from '@restante/service/testing'
import { missingPython, waitFor } from '@restante/testkit'
import { publicPackages } from './python/program.ts'
import { type Example, examplesIn } from './support/fenced.ts'
import { codeFor, mailTo } from './support/mail.ts'
import { describeWith } from './support/programs/programs.ts'
import { Running } from './support/programs/running.ts'
import { type Suite, useSystem } from './support/suite.ts'
import { clientOf, newUsername } from './support/tenants.ts'

const INSTALL_TIMEOUT = 180_000
const NEEDS = { programs: ['curl', 'swaks', 'python3'], missing: missingPython() }

/** Replacements for the names of a document: each run uses addresses that did not exist before. */
interface Cast {
  readonly text: (code: string) => string
  readonly inboxId: string
  readonly human: string
}

function castFor({ endpoints, peer }: Suite, api: string): Cast {
  const [desk, sales, signed] = [newUsername('desk'), newUsername('sales'), newUsername('signed')]
  const human = peer.address(newUsername('human'))
  const replaced: readonly (readonly [string, string])[] = [
    ['http://127.0.0.1:3000', api],
    ['ws://127.0.0.1:3000', api.replace('http', 'ws')],
    ['127.0.0.1:2525', `127.0.0.1:${endpoints.smtpPort}`],
    ['you@people.test', human],
    ['ada@example.org', peer.address('ada')],
    ['desk@', `${desk}@`],
    ['"desk"', `"${desk}"`],
    ['"sales"', `"${sales}"`],
    ['signed-for', signed],
  ]
  return {
    text: (code) => replaced.reduce((text, [written, real]) => text.replaceAll(written, real), code),
    inboxId: `${desk}@${endpoints.domain}`,
    human,
  }
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'console'])
/** Commands of the local stack, which runs already, and of an assistant, which the test of its guide runs. */
const isRunElsewhere = (line: string) => /^(npm (start|stop|test|run \w+)|claude)\b/.test(line)

describeWith(NEEDS, 'the examples', () => {
  const system = useSystem()
  let python: string
  beforeAll(async () => {
    python = await publicPackages()
  }, INSTALL_TIMEOUT)

  const start = (example: Example, environment: Record<string, string>) => Running.start(example, python, environment)

  /** An example that uses `client` follows the one that creates it. */
  function whole(example: Example, all: readonly Example[]): Example {
    if (!/\bclient\./.test(example.code) || /^(const )?client = /m.test(example.code)) return example
    const [first] = all.filter(({ language, code }) => language === example.language && /client = /.test(code))
    return { ...example, code: `${first?.code ?? ''}\n${example.code}` }
  }

  it('of README and guide are all executable, or show a response that parses', async () => {
    const examples = [...(await examplesIn('README.md')), ...(await examplesIn('docs/guide-agents.md'))]
    for (const { language, code } of examples) {
      if (language === 'json') expect(() => JSON.parse(code)).not.toThrow()
      else expect(['ts', 'python', 'sh']).toContain(language)
    }
  })

  it('of README and guide for operators name existing commands', async () => {
    const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
    const documents = await Promise.all(['README.md', 'docs/guide-operators.md', 'CONTRIBUTING.md'].map(examplesIn))
    const named = documents
      .flat()
      .filter(({ language }) => language === '' || SHELLS.has(language))
      .flatMap(({ code }) => [...code.matchAll(/^(?:\$ )?npm (?:run )?([\w:-]+)/gm)].map(([, name = '']) => name))
    expect(new Set(named).size).toBeGreaterThan(3)
    for (const name of named) expect(Object.keys(scripts)).toContain(name)
  })

  it('of README run from top to bottom: sign-up, a mail by SMTP, reading it with each client', async () => {
    const all = await examplesIn('README.md')
    const cast = castFor(system, system.endpoints.gatewayUrl)
    let key = ''
    for (const example of all) {
      const lines = example.code.trim().split('\n')
      if (lines.every(isRunElsewhere)) continue
      const code = cast.text(example.code)
      const printed = await start({ ...example, code }, { API_KEY: key }).end()
      expect(printed).not.toContain('"code":')
      if (code.includes('sign-up')) key = JSON.parse(printed).api_key
    }
    const client = clientOf(system.endpoints, key)
    const arrived = async () => (await client.inboxes.messages.list(cast.inboxId)).messages[0]
    expect(await waitFor(arrived, { what: 'the mail of the README' })).toMatchObject({ subject: 'Hello' })
  })

  it('of the guide run from top to bottom for one agent', async () => {
    const all = await examplesIn('docs/guide-agents.md')
    const base = system.endpoints.gatewayUrl
    const cast = castFor(system, base)
    const ran: string[] = []
    let key = system.tenant.key
    for (const example of all) {
      if (example.language === 'json' || /websockets\.connect/.test(example.code)) continue
      let code = cast.text(whole(example, all).code)
      if (code.includes('otp_code')) code = code.replace('123456', await codeFor(system.peer, cast.human))
      if (/%3Cid%40host%3E|<id@host>/.test(code)) {
        const tenant = { client: clientOf(system.endpoints, key) }
        const given = { attachments: [{ filename: 'a.txt', content: 'A file' }] }
        const { messageId, attachments } = await mailTo({ ...system, tenant }, cast.inboxId, given)
        code = code
          .replace('%3Cid%40host%3E', encodeURIComponent(messageId))
          .replace('<id@host>', messageId)
          .replace(/(?<="attachment_id":")[^"]*/, attachments?.[0]?.attachmentId ?? '')
      }
      const printed = await start({ ...example, code }, { API_KEY: key, BASE: base }).end()
      // Every error has a code, and every response to curl is a document.
      expect([code, printed]).toEqual([code, expect.not.stringContaining('"code":"')])
      if (code.includes('sign-up')) key = JSON.parse(printed).api_key
      ran.push(example.language)
    }
    expect(new Set(ran)).toEqual(new Set(['ts', 'python', 'sh']))
    expect(ran.length).toBeGreaterThan(10)
  })

  it.each(['ts', 'python'])(
    'of the stream in %s hear of mail, and again after a break where the client reconnects',
    async (language) => {
      const all = await examplesIn('docs/guide-agents.md')
      const [example] = all.filter((one) => one.language === language && one.code.includes('websockets.connect'))
      if (example === undefined) throw new Error(`the guide has no stream in ${language}`)
      const wire = await Wire.to(system.endpoints.gatewayUrl)
      const through = new URL(wire.through(system.endpoints.gatewayUrl)).origin
      const { inboxId } = await system.tenant.client.inboxes.create({})
      const code = castFor(system, through).text(whole(example, all).code)
      const program = start({ ...example, code }, { API_KEY: system.tenant.key })
      try {
        await program.prints(['subscribed'])
        await mailTo(system, inboxId)
        await program.prints(['subscribed', 'message.received'])
        if (language !== 'ts') return
        wire.cut()
        await wire.restore()
        await program.prints(['subscribed', 'message.received', 'subscribed'])
        await mailTo(system, inboxId)
        await program.prints(['subscribed', 'message.received', 'subscribed', 'message.received'])
      } finally {
        await program.stop()
        wire.cut()
      }
    },
  )
})
