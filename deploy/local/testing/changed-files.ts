import { basename } from 'node:path'
import { run } from '../processes.ts'
import { root } from '../settings.ts'

/** Changes of these files can break every test. */
const EVERYTHING =
  /^(pnpm-lock\.yaml|\.pnpmfile\.cjs|pnpm-workspace\.yaml|package\.json|jest\.config\.mjs|patches\/.*|tools\/jest\/.*)$/
/** The SQL and the schema of a package affect tests through the entry of the package. */
const DATABASE = /^((?:libs|services)\/[^/]+)\/(?:prisma|migrations)\//

/** Paths for jest, from the root of the repository. */
export type Selection =
  | { readonly kind: 'all' }
  /** Changed modules: jest finds the tests that import them. Changed documents: the tests that name them. */
  | { readonly kind: 'related'; readonly modules: readonly string[] }

/**
 * The differences to the main branch: commits since the branch started, and uncommitted changes.
 * @param base another commit to compare with.
 */
export async function changedFiles(base: string | undefined): Promise<string[]> {
  const from = base ?? (await mainBranch())
  const since = (await git(['merge-base', 'HEAD', from])).trim()
  const lists = await Promise.all([
    git(['diff', '--name-only', since]),
    git(['ls-files', '--others', '--exclude-standard']),
  ])
  return [...new Set(lists.flatMap((list) => list.split('\n')).filter((file) => file !== ''))]
}

function git(args: readonly string[]): Promise<string> {
  return run('git', args, { cwd: root })
}

async function mainBranch(): Promise<string> {
  const remote = git(['rev-parse', '--verify', '--quiet', 'origin/main'])
  return remote.then(
    () => 'origin/main',
    () => 'main',
  )
}

/** The tests that changed files concern. */
export async function selectTests(changed: readonly string[]): Promise<Selection> {
  if (changed.some((file) => EVERYTHING.test(file))) return { kind: 'all' }
  const modules = await Promise.all(changed.map(modulesOf))
  return { kind: 'related', modules: [...new Set(modules.flat())] }
}

async function modulesOf(file: string): Promise<string[]> {
  if (file.endsWith('.ts')) return [file]
  const [, owner] = DATABASE.exec(file) ?? []
  if (owner !== undefined) return [`${owner}/src/${owner.startsWith('libs/') ? 'index' : 'main'}.ts`]
  // A document, a template or a fixture: the modules that name it read it.
  const naming = git(['grep', '-l', '--fixed-strings', basename(file), '--', '*.ts'])
  return naming.then(
    (list) => list.split('\n').filter((name) => name !== ''),
    () => [],
  )
}
