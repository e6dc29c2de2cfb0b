import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { missingPython, waitFor } from '@restante/testkit'
import { publicPackages } from '../../python/program.ts'
import { type Example, examplesIn } from '../../support/fenced.ts'
import { mailTo } from '../../support/mail.ts'
import { FakeModel } from '../../support/programs/fake-model.ts'
import { describeWith } from '../../support/programs/programs.ts'
import { Running } from '../../support/programs/running.ts'
import { useSystem } from '../../support/suite.ts'
import { adapted, guide, modelInbox, serversIn, serversInToml, toolsOf, withKey } from './guide.ts'

/** The first run on a machine installs the packages. */
const INSTALL_TIMEOUT = 180_000
/** Programs that people have, which the guide tells what to do. */
const ASSISTANTS = ['claude']
/** Writes its arguments, a line each. */
const STAND_IN = '#!/bin/sh\nprintf "%s\\n" "$@"\n'

describeWith({ programs: ['python3'], missing: missingPython() }, 'the guide for language models', () => {
  const system = useSystem()
  let python: string
  let folder: string
  beforeAll(async () => {
    python = await publicPackages()
    folder = await mkdtemp(path.join(tmpdir(), 'assistants-'))
    for (const name of ASSISTANTS) {
      await writeFile(path.join(folder, name), STAND_IN)
      await chmod(path.join(folder, name), 0o755)
    }
  }, INSTALL_TIMEOUT)
  afterAll(() => rm(folder, { recursive: true }))

  const blocks = async (...languages: string[]): Promise<Example[]> =>
    (await guide()).filter(({ language }) => languages.includes(language))

  it('has configurations whose servers give a program its tools, called or started as written', async () => {
    const { key } = await modelInbox(system)
    const configurations = await blocks('json', 'toml')
    const kinds: string[] = []
    for (const { language, code, line } of configurations) {
      const text = withKey(adapted(code, system), key)
      const servers = language === 'json' ? serversIn(text) : serversInToml(text, { AGENTMAIL_API_KEY: key })
      for (const server of servers) {
        const tools = await toolsOf(server)
        expect([line, tools]).toEqual([line, expect.arrayContaining(['list_messages', 'reply_to_message'])])
        expect([line, tools]).toEqual([line, expect.not.arrayContaining(['delete_thread'])])
        kinds.push('command' in server ? 'started' : 'called')
      }
    }
    expect(kinds.filter((kind) => kind === 'called').length).toBeGreaterThanOrEqual(6)
    expect(kinds).toContain('started')
  })

  it('has a line for a shell, as the README, that gives an assistant the address and the key', async () => {
    const { key } = await modelInbox(system)
    const isForAssistant = ({ code }: Example) => ASSISTANTS.some((name) => code.startsWith(`${name} `))
    const lines = [...(await blocks('sh')), ...(await examplesIn('README.md')).filter(isForAssistant)]
    expect(lines).toHaveLength(ASSISTANTS.length + 1)
    for (const { language, code } of lines) {
      const environment = { AGENTMAIL_API_KEY: key, PATH: `${folder}:${process.env['PATH']}` }
      const printed = await Running.start({ language, code: adapted(code, system) }, python, environment).end()
      const [mcp, add, transport, http, name, url = '', header, value = ''] = printed.trim().split('\n')
      expect([mcp, add, transport, http, name, header]).toEqual([
        'mcp',
        'add',
        '--transport',
        'http',
        'restante',
        '--header',
      ])
      const [, title = '', content = ''] = /^([\w-]+): (.*)$/.exec(value) ?? []
      expect(await toolsOf({ url, headers: { [title]: content } })).toContain('list_messages')
    }
  })

  it.each(['js', 'python'])(
    'has an agent in %s that answers its mail, and leaves doubtful mail to a person',
    async (language) => {
      const model = system.cleanUp(
        await FakeModel.start(({ messages }) => ({
          says: /parcel/.test(String(messages.at(-1)?.content)) ? 'It comes on Monday.' : 'NONE',
        })),
      )
      const { inboxId, key } = await modelInbox(system)
      const [agent] = (await blocks(language)).filter(({ code }) => code.includes('wait_for_message'))
      const environment = {
        AGENTMAIL_API_KEY: key,
        AGENTMAIL_BASE_URL: system.endpoints.gatewayUrl,
        ...model.environment,
      }
      const program = Running.start(
        { language, code: adapted(agent?.code ?? '', system, inboxId) },
        python,
        environment,
      )
      try {
        await program.prints(['waiting'])
        const question = await mailTo(system, inboxId, { subject: 'Where', text: 'Where is my parcel?' })
        await program.prints(['waiting', 'answered'])
        const other = await mailTo(system, inboxId, { text: 'I want to speak to a person.' })
        await program.prints(['waiting', 'answered', 'left to a person'])
        const { messages } = system.tenant.client.inboxes
        const answers = async () => (await messages.list(inboxId, { labels: ['sent'] })).messages
        const [answer, ...more] = await waitFor(async () => (await answers()).length > 0 && (await answers()), {
          what: 'the answer',
        })
        expect([answer?.threadId, more]).toEqual([question.threadId, []])
        expect((await messages.get(inboxId, answer?.messageId ?? '')).extractedText).toContain('It comes on Monday.')
        expect((await messages.get(inboxId, question.messageId)).labels).not.toContain('unread')
        expect((await messages.get(inboxId, other.messageId)).labels).toContain('unread')
        expect(model.asked.map(({ messages: [first] }) => first?.role)).toEqual(['system', 'system'])
      } finally {
        await program.stop()
      }
    },
  )

  it('names tools in its programs that the key of its agent may use', async () => {
    const { key } = await modelInbox(system)
    const tools = await toolsOf({
      url: `${system.endpoints.gatewayUrl}/mcp`,
      headers: { authorization: `Bearer ${key}` },
    })
    const text = await readFile(path.join(root, 'docs/guide-mcp.md'), 'utf8')
    const named = new Set(
      [...text.matchAll(/['"]((?:wait|reply|update|list|get|send|create)_\w+)['"]/g)].map(([, name = '']) => name),
    )
    expect(named.size).toBeGreaterThanOrEqual(3)
    for (const name of named) expect(tools).toContain(name)
  })
})
