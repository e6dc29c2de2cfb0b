/** Runs beside an API server, which main.ts has started: it checks every object that the chart renders for its examples. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { say } from '@restante/local/progress.ts'
import { root } from '@restante/local/settings.ts'
import { output } from '../support/programs/programs.ts'
import { RELEASE } from './harness/kubernetes.ts'

const CHART = path.join(root, 'helm/restante')

/** The definitions that deploy/cluster/definitions.sh has collected. */
const [definitions = ''] = process.argv.slice(2)

/** Lets the server check one rendering as it would before it stores it. @returns how many objects it accepts. */
async function check(example: string): Promise<number> {
  const values = path.join(CHART, 'examples', example)
  const options = ['--namespace', RELEASE, '--server-side', '--dry-run=server', '--validate=strict', '--output=name']
  const render = 'helm template "$1" "$2" --namespace "$1" --values "$3"'
  const accepted = await output('bash', [
    '-ec',
    `set -o pipefail; ${render} | kubectl apply ${options.join(' ')} --filename -`,
    'bash',
    RELEASE,
    CHART,
    values,
  ])
  return accepted.trim().split('\n').length
}

async function prepare(): Promise<void> {
  await output('kubectl', ['create', 'namespace', RELEASE])
  await output('kubectl', ['apply', '--server-side', '--filename', definitions])
  await output('kubectl', [
    'wait',
    '--for=condition=Established',
    'customresourcedefinitions',
    '--all',
    '--timeout=60s',
  ])
}

await prepare()
const examples = (await readdir(path.join(CHART, 'examples'))).filter((name) => name.endsWith('.yaml')).sort()
let failed = examples.length === 0
for (const example of examples) {
  try {
    say(`ok: ${example}: ${await check(example)} objects`)
  } catch (error) {
    say(`FAILED: ${example}\n${error instanceof Error ? error.message : String(error)}`)
    failed = true
  }
}
say(failed ? 'FAILED' : `The API server accepts everything that the chart renders for ${examples.length} examples`)
process.exit(failed ? 1 : 0)
