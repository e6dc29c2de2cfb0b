import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { messageOf } from '@restante/service/errors'
import { run } from '../processes.ts'
import { say, step } from '../progress.ts'
import { root, toolsFolder } from '../settings.ts'

/**
 * Ensures versitygw, the S3 server of the long form of the tests, which is compiled once. Without Go the tests that need
 * it fail, and say so.
 * @returns the environment in which tests find it.
 */
export async function ensureObjectStore(): Promise<NodeJS.ProcessEnv> {
  const tools = toolsFolder(process.env)
  const found = { RESTANTE_TOOLS: tools, PATH: [join(tools, 'bin'), process.env['PATH']].join(delimiter) }
  if (existsSync(join(tools, 'bin/versitygw'))) return found
  const compile = () =>
    run(join(root, 'deploy/cluster/programs.sh'), ['versitygw'], { env: { ...process.env, RESTANTE_TOOLS: tools } })
  await step('Compiling an S3 server from the Go module proxy', compile).catch((error: unknown) =>
    say(messageOf(error)),
  )
  return found
}
