import { spawnSync } from 'node:child_process'
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LOADER_FLAGS, lazyImports, loader } from './lazy-imports.ts'

/**
 * `compile.ts <module>`: loads a module of an image without running it, and all that is loaded lazily, and keeps what Node
 * compiles in the image's compile cache (`libs/service/bin/service-node`). As root; the result belongs to root.
 *
 * The same modules make the same files. Three things would be in the way:
 * - V8 takes the order of its tables from a random seed, and compiles in threads. Two flags make both predictable; neither
 *   is part of what a cache is valid for.
 * - V8 writes a few bytes that it has not set. A module that is compiled differently each time is left out, which costs its
 *   compilation at every start: one or two of some two thousand.
 */

/** Node keeps a cache for each user: this is the one that the image runs as. */
const USER = { uid: 1000, gid: 1000 }
const ROUNDS = 3
const root = path.resolve('/app')
const kept = path.join(root, 'node_modules/.cache/compiled')

/** @returns a folder with the cache of the layers below, and with what loading the module adds to it */
async function round(module: string, text: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'compiled-'))
  await cp(kept, folder, { recursive: true })
  for (const name of ['', ...(await readdir(folder, { recursive: true }))]) {
    await chown(path.join(folder, name), USER.uid, USER.gid)
  }
  const flags = ['--random-seed=1', '--predictable', ...LOADER_FLAGS]
  const { status } = spawnSync(
    path.join(root, 'libs/service/bin/service-node'),
    [process.execPath, ...flags, '--eval', text],
    { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: folder }, ...USER },
  )
  if (status !== 0) throw new Error(`${module} cannot be loaded`)
  return folder
}

/** Keeps each file that all rounds have made alike. */
async function keep(rounds: readonly string[]): Promise<void> {
  const [first = '', ...others] = rounds
  for (const entry of await readdir(first, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const name = path.relative(first, path.join(entry.parentPath, entry.name))
    const content = await readFile(path.join(first, name))
    const again = await Promise.all(others.map((other) => readFile(path.join(other, name)).catch(() => undefined)))
    if (!again.every((other) => other?.equals(content))) continue
    await mkdir(path.dirname(path.join(kept, name)), { recursive: true })
    await writeFile(path.join(kept, name), content)
  }
}

const [module] = process.argv.slice(2)
if (module === undefined) throw new Error('usage: compile.ts <module>')
const text = loader([module], await lazyImports(root))
await mkdir(kept, { recursive: true })
const rounds: string[] = []
for (let count = 0; count < ROUNDS; count += 1) rounds.push(await round(module, text))
await keep(rounds)
await Promise.all(rounds.map((folder) => rm(folder, { recursive: true })))
