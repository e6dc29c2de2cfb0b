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
export function ensureObjectStore(): Promise<NodeJS.ProcessEnv> {
  return ensureCompiled('versitygw', 'an S3 server')
}

/**
 * Ensures Centrifugo, the server of streams that a bench compares with, which is compiled once.
 * @returns the environment in which a process finds it, unless it could not be compiled.
 */
export function ensureStreamServer(): Promise<NodeJS.ProcessEnv> {
  return ensureCompiled('centrifugo', 'Centrifugo, a server of streams,')
}

async function ensureCompiled(program: string, what: string): Promise<NodeJS.ProcessEnv> {
  const tools = toolsFolder(process.env)
  const found = { RESTANTE_TOOLS: tools, PATH: [join(tools, 'bin'), process.env['PATH']].join(delimiter) }
  if (existsSync(join(tools, 'bin', program))) return found
  const compile = () =>
    run(join(root, 'deploy/cluster/programs.sh'), [program], { env: { ...process.env, RESTANTE_TOOLS: tools } })
  await step(`Compiling ${what} from the Go module proxy`, compile).catch((error: unknown) => say(messageOf(error)))
  return found
}
