import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { root } from '@restante/local/settings.ts'
import { missingPython, pythonEnvironment } from '@restante/testkit'
import { mailTo } from '../../support/mail.ts'
import { FakeModel, type ModelRequest, type Turn } from '../../support/programs/fake-model.ts'
import { describeAtFullLength, output } from '../../support/programs/programs.ts'
import { Running } from '../../support/programs/running.ts'
import { useSystem } from '../../support/suite.ts'
import { adapted, guide, modelInbox } from './guide.ts'

/** The first run on a machine installs 200 MB. */
const INSTALL_TIMEOUT = 600_000
const NPM_PACKAGES = ['ai@7.0.173', '@ai-sdk/mcp@2.0.99', '@ai-sdk/openai-compatible@3.0.92']

describeAtFullLength(
  { programs: ['python3', 'npm'], missing: missingPython() },
  'the frameworks of the guide for language models',
  () => {
    const system = useSystem()
    const folder = path.join(root, '.restante/node/ai-sdk')
    let python: string
    beforeAll(async () => {
      python = await pythonEnvironment(path.join(import.meta.dirname, 'frameworks.txt'))
      await mkdir(folder, { recursive: true })
      await writeFile(path.join(folder, 'package.json'), '{"private":true}')
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', '--prefix', folder]
      await output('npm', ['install', ...flags, ...NPM_PACKAGES])
    }, INSTALL_TIMEOUT)

    it.each(['from agents import', 'langchain_mcp_adapters', '@ai-sdk/mcp'])(
      'has a program with %s whose model calls a tool, reads the mail, and answers',
      async (mark) => {
        const { inboxId, key } = await modelInbox(system)
        await mailTo(system, inboxId, { subject: 'Where is my parcel?' })
        const model = system.cleanUp(await FakeModel.start((given) => turn(given, inboxId)))
        const [example] = (await guide()).filter(({ code }) => code.includes(mark))
        if (example === undefined) throw new Error(`the guide has no program with ${mark}`)
        const environment = {
          AGENTMAIL_API_KEY: key,
          AGENTMAIL_BASE_URL: system.endpoints.gatewayUrl,
          OPENAI_AGENTS_DISABLE_TRACING: '1',
          ...model.environment,
        }
        const code = adapted(example.code, system, inboxId)
        const printed = await Running.start({ ...example, code }, python, environment, folder).end()
        expect(printed.trim()).toBe('One mail is unread.')
        const [first, second] = model.asked
        expect(first?.tools?.map((tool) => tool.function.name)).toEqual(
          expect.arrayContaining(['list_messages', 'wait_for_message', 'reply_to_message']),
        )
        expect(JSON.stringify(second?.messages.at(-1))).toContain('Where is my parcel?')
      },
    )
  },
)

/** Lists what is unread, then says so. */
function turn({ messages }: ModelRequest, inboxId: string): Turn {
  if (messages.some(({ role }) => role === 'tool')) return { says: 'One mail is unread.' }
  return { calls: 'list_messages', with: { inboxId, labels: ['unread'] } }
}
