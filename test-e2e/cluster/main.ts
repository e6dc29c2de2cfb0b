/** `npm run test:cluster`: the chart on a real Kubernetes, which is started here. See README.md in this folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { Advice, step } from '@restante/local/progress.ts'
import { root, toolsFolder } from '@restante/local/settings.ts'
import { type Arguments, InvalidArgumentError, readArguments, USAGE } from './arguments.ts'
import { buildImages, imagesOf } from './images.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

/** Runs a script of deploy/cluster in this terminal. @throws Advice when it fails or is interrupted. */
async function script(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const file = path.join(root, 'deploy/cluster', name)
  const child = spawn(file, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  const kill = () => child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', kill)
  const [code] = await once(child, 'exit')
  interrupted.signal.removeEventListener('abort', kill)
  if (code !== 0 || interrupted.signal.aborted) throw new Advice(`deploy/cluster/${name} ${args.join(' ')} failed.`)
}

/** Runs a program of this folder in the network outside of the cluster. */
function inCluster(program: string, ...args: string[]): Promise<void> {
  return script('cluster.sh', ['exec', process.execPath, path.join(import.meta.dirname, program), ...args])
}

async function onApiServer(): Promise<void> {
  await script('definitions.sh', [])
  await step('Starting the API server', () => script('cluster.sh', ['up', '--api-only']))
  await inCluster('api-server.ts', path.join(toolsFolder(process.env), 'definitions'))
}

async function onNode(skipBuild: boolean): Promise<void> {
  const { names } = await imagesOf()
  if (!skipBuild) await step('Building the images', () => buildImages(script))
  await step('Starting the cluster', () => script('cluster.sh', ['up']))
  await step('Loading the images', () => script('cluster.sh', ['load', ...names]))
  await inCluster('scenario.ts')
}

async function test({ apiOnly, keep, skipBuild }: Arguments): Promise<void> {
  await script(
    'programs.sh',
    apiOnly ? ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'helm'] : [],
  )
  let passed = false
  try {
    await (apiOnly ? onApiServer() : onNode(skipBuild))
    passed = true
  } finally {
    if (passed || !keep) await endCluster()
  }
}

/** Also after an interruption. */
async function endCluster(): Promise<void> {
  const child = spawn(path.join(root, 'deploy/cluster/cluster.sh'), ['down'], { stdio: 'inherit' })
  await once(child, 'exit')
}

try {
  const wishes = readArguments(process.argv.slice(2))
  if (wishes === 'help') process.stdout.write(`${USAGE}\n`)
  else await test(wishes)
} catch (error) {
  const isExpected = error instanceof Advice || error instanceof InvalidArgumentError
  process.stderr.write(`\n${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = error instanceof InvalidArgumentError ? 2 : 1
}
