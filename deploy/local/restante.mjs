// The entry of `npm start`, `npm stop`, `npm run reset`, `npm test` and the others: plain JavaScript without
// dependencies, because it runs on any Node from 20 on, before anything is installed. It installs the packages, among
// them the pinned Node, and continues under that Node in main.ts.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import nodeModule from 'node:module'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// Some versions of Node 20 lack import.meta.dirname.
const here = dirname(fileURLToPath(import.meta.url))
const root = resolve(here, '../..')
const node = join(root, 'node_modules/node/bin/node')
const began = Date.now()
process.env.RESTANTE_BEGAN = String(began)

function say(text) {
  process.stdout.write(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}\n`)
}

function fail(text) {
  process.stderr.write(`\n${text}\n`)
  process.exit(1)
}

/** Runs a program to its end; prints its output only when it fails. */
function run(program, args, env = {}) {
  const result = spawnSync(program, args, { cwd: root, env: { ...process.env, ...env }, encoding: 'utf8' })
  if (result.status === 0) return
  // Interrupted with Ctrl-C, which needs no explanation.
  if (result.signal === 'SIGINT' || result.signal === 'SIGTERM') process.exit(130)
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd().split('\n').slice(-30).join('\n')
  fail(`${program} ${args.join(' ')} failed:\n${output || result.error || `exit code ${result.status}`}`)
}

/** The packages of the lockfile, installed once per content of the lockfile. */
function install() {
  const stamp = join(root, 'node_modules/.restante-lockfile')
  const lockfile = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex')
  if (existsSync(node) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lockfile) return
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const home = join(root, '.restante', packageManager.replace('@', '-'))
  const pnpm = join(home, 'node_modules/pnpm/bin/pnpm.cjs')
  if (!existsSync(pnpm)) {
    say(`Fetching ${packageManager} ...`)
    mkdirSync(home, { recursive: true })
    run('npm', [
      'install',
      '--prefix',
      home,
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      packageManager,
    ])
  }
  say('Installing packages ...')
  // CI makes pnpm ask nothing. The log level is set because `npm --silent` would silence pnpm's error messages, too.
  run(process.execPath, [pnpm, 'install', '--frozen-lockfile'], { CI: 'true', npm_config_loglevel: 'info' })
  writeFileSync(stamp, lockfile)
  say('Installing packages: done')
}

/** The Prisma clients. Turbo skips what has not changed. */
function generate() {
  const env = {
    PATH: [dirname(node), join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    // `prisma generate` needs no schema engine, but looks for one to download.
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    CHECKPOINT_DISABLE: '1',
    TURBO_TELEMETRY_DISABLED: '1',
  }
  run(join(root, 'node_modules/.bin/turbo'), ['run', 'generate', '--ui=stream', '--output-logs=errors-only'], env)
}

/** Continues under the pinned Node, in the same terminal. */
async function continueInMain() {
  const main = join(here, 'main.ts')
  if (realpathSync(process.execPath) === realpathSync(node)) {
    // The same cache as the services' (libs/service/bin/service-node): most of a short command's time is compiling.
    nodeModule.enableCompileCache(join(root, 'node_modules/.cache/compiled'))
    await import(main)
    return
  }
  const child = spawn(node, [main, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
  // Ctrl-C reaches the child through the terminal, and this process waits for its end. SIGTERM reaches only this
  // process.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
}

const [major] = process.versions.node.split('.')
if (Number(major) < 20) fail(`Node 20 or newer is required; this is ${process.version}.`)
const [command] = process.argv.slice(2)
if (['start', 'test', 'bench', 'cluster', 'engines'].includes(command)) {
  install()
  generate()
}
if (!existsSync(node)) fail('Nothing is installed here yet: `npm start` does that.')
await continueInMain()
