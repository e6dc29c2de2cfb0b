import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const cruiser = join(root, 'node_modules/.bin/depcruise')

/** Checks a repository of the given files. Resolves to the names of the violated rules. */
async function brokenRules(files: Record<string, string>): Promise<string[]> {
  const house = await mkdtemp(join(tmpdir(), 'restante-imports-'))
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(house, path)), { recursive: true })
      await writeFile(join(house, path), content)
    }
    const args = ['--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json', 'libs', 'services']
    await mkdir(join(house, 'services'), { recursive: true })
    const { stdout } = await promisify(execFile)(cruiser, args, { cwd: house }).catch((failure) => failure)
    const { summary }: { summary: { violations: { rule: { name: string } }[] } } = JSON.parse(stdout)
    return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort()
  } finally {
    await rm(house, { recursive: true })
  }
}

const promise = 'export const promise = 1\n'

describe('import rules', () => {
  it('let the folders of a service import in one order, and a folder what lies inside it', async () => {
    const files = {
      'libs/contracts/src/types.ts': promise,
      'services/gateway/src/main.ts': `import { promise } from './edge/edge.ts'\nvoid promise\n`,
      'services/gateway/src/config.ts': promise,
      'services/gateway/src/edge/edge.ts': `export { promise } from './proxy/forward.ts'\n`,
      'services/gateway/src/edge/proxy/forward.ts': `export { promise } from '../../pods/store.ts'\n`,
      'services/gateway/src/pods/store.ts': `export { promise } from '../config.ts'\n`,
    }
    expect(await brokenRules(files)).toEqual([])
  })

  it('let a service import libs, and a lib the libs before it', async () => {
    const files = {
      'libs/contracts/src/events/index.ts': promise,
      'libs/service/src/http/index.ts': `export { promise } from '../../../contracts/src/events/index.ts'\n`,
      'services/gateway/src/main.ts': `import { promise } from '../../../libs/service/src/http/index.ts'\nvoid promise\n`,
    }
    expect(await brokenRules(files)).toEqual([])
  })

  it.each([
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
  ])('refuse %s', async (_what, rule, files) => {
    const house = { 'libs/contracts/src/types.ts': promise, ...files }
    expect(await brokenRules(house)).toContain(rule)
  })
})
