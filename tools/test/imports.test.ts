import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const program = join(import.meta.dirname, 'support/cruise.ts')

/** The files of a repository, by their paths. */
type House = Readonly<Record<string, string>>

/** The names of the violated rules in each of some repositories. */
async function brokenRules(houses: readonly House[]): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'restante-imports-'))
  try {
    const folders = houses.map((_, at) => join(folder, String(at)))
    for (const [at, house] of houses.entries()) await build(join(folder, String(at)), house)
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...folders])
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function build(folder: string, house: House): Promise<void> {
  for (const parent of ['libs', 'services']) await mkdir(join(folder, parent), { recursive: true })
  for (const [path, content] of Object.entries(house)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

const promise = 'export const promise = 1\n'

const ALLOWED: readonly (readonly [what: string, house: House])[] = [
  [
    'the folders of a service import in one order, and a folder what lies inside it',
    {
      'libs/contracts/src/types.ts': promise,
      'services/gateway/src/main.ts': `import { promise } from './edge/edge.ts'\nvoid promise\n`,
      'services/gateway/src/config.ts': promise,
      'services/gateway/src/edge/edge.ts': `export { promise } from './proxy/forward.ts'\n`,
      'services/gateway/src/edge/proxy/forward.ts': `export { promise } from '../../pods/store.ts'\n`,
      'services/gateway/src/pods/store.ts': `export { promise } from '../config.ts'\n`,
    },
  ],
  [
    'a service import libs, and a lib the libs before it',
    {
      'libs/contracts/src/events/index.ts': promise,
      'libs/service/src/http/index.ts': `export { promise } from '../../../contracts/src/events/index.ts'\n`,
      'services/gateway/src/main.ts': `import { promise } from '../../../libs/service/src/http/index.ts'\nvoid promise\n`,
    },
  ],
]

const REFUSED: readonly (readonly [what: string, rule: string, house: House])[] = [
  [
    'a service that imports another service',
    'service-imports-service',
    {
      'services/mail-send/src/limits.ts': promise,
      'services/gateway/src/main.ts': `import { promise } from '../../mail-send/src/limits.ts'\nvoid promise\n`,
    },
  ],
  [
    'a service that imports what a lib offers for tests',
    'testing-for-tests',
    {
      'libs/service/src/testing.ts': promise,
      'services/gateway/src/main.ts': `import { promise } from '../../../libs/service/src/testing.ts'\nvoid promise\n`,
    },
  ],
  [
    'a lib that imports a type of a lib after it',
    'lib-order-service',
    {
      'libs/messaging/src/index.ts': 'export interface Topic { name: string }\n',
      'libs/service/src/topics.ts': `import type { Topic } from '../../messaging/src/index.ts'\nexport type Names = Topic['name']\n`,
    },
  ],
  [
    'contracts that import another package of the repository',
    'lib-order-contracts',
    {
      'libs/mime/src/index.ts': promise,
      'libs/contracts/src/index.ts': `export * from '../../mime/src/index.ts'\n`,
    },
  ],
  [
    'a lib that is imported past its entries',
    'front-door',
    {
      'libs/mime/src/inside.ts': promise,
      'services/mail-send/src/main.ts': `import { promise } from '../../../libs/mime/src/inside.ts'\nvoid promise\n`,
    },
  ],
  [
    'files that import each other',
    'no-circular',
    {
      'libs/mime/src/one.ts': `import { two } from './two.ts'\nexport const one = () => two\n`,
      'libs/mime/src/two.ts': `import { one } from './one.ts'\nexport const two = () => one\n`,
    },
  ],
  [
    'folders of a service that import each other, through different files',
    'folders-in-order',
    {
      'services/gateway/src/pods/store.ts': promise,
      'services/gateway/src/pods/delete.ts': `import { promise } from '../inboxes/store.ts'\nvoid promise\n`,
      'services/gateway/src/inboxes/store.ts': promise,
      'services/gateway/src/inboxes/create.ts': `import { promise } from '../pods/store.ts'\nvoid promise\n`,
    },
  ],
  [
    'folders of a service that import each other by way of a third',
    'folders-in-order',
    {
      'services/gateway/src/pods/delete.ts': `import { promise } from '../inboxes/store.ts'\nvoid promise\n`,
      'services/gateway/src/inboxes/store.ts': promise,
      'services/gateway/src/inboxes/delete.ts': `import { promise } from '../keys/store.ts'\nvoid promise\n`,
      'services/gateway/src/keys/store.ts': promise,
      'services/gateway/src/keys/create.ts': `import { promise } from '../pods/limit.ts'\nvoid promise\n`,
      'services/gateway/src/pods/limit.ts': promise,
    },
  ],
  [
    'folders of a lib that import each other',
    'folders-in-order',
    {
      'libs/mime/src/parse/header.ts': promise,
      'libs/mime/src/parse/body.ts': `import { promise } from '../html/text.ts'\nvoid promise\n`,
      'libs/mime/src/html/text.ts': promise,
      'libs/mime/src/html/entities.ts': `import { promise } from '../parse/header.ts'\nvoid promise\n`,
    },
  ],
  [
    'a folder that imports a file of the folder it lies in',
    'no-import-upwards-1',
    {
      'services/gateway/src/edge/peers.ts': promise,
      'services/gateway/src/edge/proxy/forward.ts': `import { promise } from '../peers.ts'\nvoid promise\n`,
    },
  ],
  [
    'a capability that imports what composes the service',
    'no-import-upwards-0',
    {
      'services/gateway/src/open-timers.ts': promise,
      'services/gateway/src/edge/proxy/forward.ts': `import { promise } from '../../open-timers.ts'\nvoid promise\n`,
    },
  ],
  [
    'kafkajs outside of messaging',
    'kafkajs-behind-messaging',
    {
      'node_modules/kafkajs/package.json': '{ "name": "kafkajs", "main": "index.js" }',
      'node_modules/kafkajs/index.js': '',
      'libs/mime/package.json': '{ "dependencies": { "kafkajs": "1" } }',
      'libs/mime/src/index.ts': `import 'kafkajs'\n`,
    },
  ],
  [
    'bullmq outside of jobs',
    'bullmq-behind-jobs',
    {
      'node_modules/bullmq/package.json': '{ "name": "bullmq", "main": "index.js" }',
      'node_modules/bullmq/index.js': '',
      'libs/mime/src/index.ts': `import 'bullmq'\n`,
    },
  ],
  ['an import of nothing', 'not-resolvable', { 'libs/mime/src/index.ts': `import './nothing.ts'\n` }],
]

describe('import rules', () => {
  let broken: string[][]
  beforeAll(async () => {
    const refused = REFUSED.map(([, , house]) => ({ 'libs/contracts/src/types.ts': promise, ...house }))
    broken = await brokenRules([...ALLOWED.map(([, house]) => house), ...refused])
  })

  it.each(ALLOWED.map(([what], at) => [what, at] as const))('let %s', (_what, at) => {
    expect(broken[at]).toEqual([])
  })

  it.each(REFUSED.map(([what, rule], at) => [what, rule, ALLOWED.length + at] as const))(
    'refuse %s',
    (_what, rule, at) => {
      expect(broken[at]).toContain(rule)
    },
  )
})
