import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { LOADER_FLAGS, lazyImports, loader } from '../steps/lazy-imports.ts'
import { isUnused } from '../steps/unused-files.ts'

const root = path.resolve(import.meta.dirname, '../../..')
/** As `deploy/image/build` finds them. */
const services = await readdir(path.join(root, 'services'))

/** Commands of the operator and of Jobs, which run in containers of the same images. */
const commands = [
  'services/gateway/src/admin/main.ts',
  'services/mail-ingest/src/tenancy/check-inboxes.ts',
  'libs/messaging/src/commands/topics.ts',
  'libs/messaging/src/commands/dead-letters.ts',
  'libs/service/src/database/migrate-cli.ts',
]

/** The files of packages that are loaded with modules of ours, and with all that these load lazily. */
async function loaded(modules: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'loaded-'))
  const report = path.join(folder, 'files.json')
  // A command that is loaded runs, says that its arguments are missing, and may end the process.
  const text = `
    import { writeFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const files = []
    registerHooks({ load: (url, context, next) => { files.push(url); return next(url, context) } })
    process.on('exit', () => {
      process.exitCode = 0
      writeFileSync(${JSON.stringify(report)}, JSON.stringify(files))
    })
    ${loader(modules, await lazyImports(root))}
    process.exit()
  `
  await promisify(execFile)(process.execPath, [...LOADER_FLAGS, '--eval', text])
  const files: string[] = JSON.parse(await readFile(report, 'utf8'))
  await rm(folder, { recursive: true })
  return files.filter((url) => url.includes('/node_modules/'))
}

describe('files that images do without', () => {
  it('are loaded by no service, not even lazily or in a thread', async () => {
    const mains = services.map((service) => path.join(root, 'services', service, 'src/main.ts'))
    const files = await loaded(mains)
    expect(files.length).toBeGreaterThan(1_500)
    expect(files.filter(isUnused)).toEqual([])
  })

  it('are loaded by no command that runs in a container', async () => {
    const files = await loaded(commands.map((command) => path.join(root, command)))
    expect(files.filter(isUnused)).toEqual([])
  })

  it('are no licenses, which have to be passed on with a package', () => {
    const licenses = ['LICENSE', 'LICENSE.md', 'license.markdown', 'LICENCE.md', 'NOTICE.md', 'COPYING.md']
    expect(licenses.filter((name) => isUnused(`node_modules/some-package/${name}`))).toEqual([])
    expect(isUnused('node_modules/some-package/README.md')).toBe(true)
  })
})
