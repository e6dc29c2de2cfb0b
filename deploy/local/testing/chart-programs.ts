import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ensureChartPeers } from '../engines/packages.ts'
import { run } from '../processes.ts'
import { say, step } from '../progress.ts'
import { root, toolsFolder } from '../settings.ts'

/** Brings the schemas of several versions of Kubernetes. */
const VALIDATOR = { name: 'kubernetes-validate', version: '1.37.0' }

/**
 * Ensures the programs that tests of the chart drive: Helm, which is compiled once, kubernetes-validate from PyPI, promtool
 * from Debian, and the definitions of resources that are not Kubernetes' own.
 * @returns the environment in which tests find them.
 */
export async function ensureChartPrograms(): Promise<NodeJS.ProcessEnv> {
  const tools = toolsFolder(process.env)
  const env = { ...process.env, RESTANTE_TOOLS: tools }
  await ensureChartPeers()
  const helm = join(tools, 'bin/helm')
  if (!existsSync(helm)) say('Helm is compiled from the Go module proxy, once; this takes minutes.')
  await step('Helm', () => run(join(root, 'deploy/cluster/programs.sh'), ['helm'], { env }))
  await step('Definitions of resources', () => run(join(root, 'deploy/cluster/definitions.sh'), [], { env }))
  // Of its version, so that another one is fetched when it changes.
  const validator = join(tools, `${VALIDATOR.name}-${VALIDATOR.version}`)
  await ensureValidator(validator)
  return {
    RESTANTE_TOOLS: tools,
    PATH: [join(tools, 'bin'), join(validator, 'bin'), process.env['PATH']].join(delimiter),
  }
}

/** An environment is complete only under its own name: its programs contain the path of their folder. */
async function ensureValidator(folder: string): Promise<void> {
  const complete = join(folder, 'complete')
  if (existsSync(complete)) return
  await step('Schemas of Kubernetes', async () => {
    await rm(folder, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', folder])
    const pip = ['install', '--quiet', '--disable-pip-version-check', `${VALIDATOR.name}==${VALIDATOR.version}`]
    await run(join(folder, 'bin/pip'), pip)
    await writeFile(complete, '')
  })
}
