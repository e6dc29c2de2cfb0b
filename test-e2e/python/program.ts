import { spawn } from 'node:child_process'
import path from 'node:path'
import { pythonEnvironment } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'
import { type Answers, converse } from '../support/programs/conversation.ts'

/** The Python interpreter with the packages of these programs. */
export function publicPackages(): Promise<string> {
  return pythonEnvironment(path.join(import.meta.dirname, 'requirements.txt'))
}

/**
 * Runs a Python program of this folder against a system, and answers it.
 * @throws Error with what the program wrote to stderr when it fails.
 */
export async function runPython(
  name: string,
  endpoints: Endpoints,
  key: string,
  answers: Answers,
): Promise<Readonly<Record<string, unknown>>> {
  const child = spawn(await publicPackages(), ['-u', path.join(import.meta.dirname, name)], {
    env: {
      PATH: process.env['PATH'],
      // The programs are among the sources, where no files may be created.
      PYTHONDONTWRITEBYTECODE: '1',
      AGENTMAIL_API_KEY: key,
      BASE: endpoints.gatewayUrl,
      STREAMS: endpoints.streamUrl.replace(/\/v0$/, ''),
    },
  })
  return converse(name, child, answers)
}
