import { execFileSync, spawn } from 'node:child_process'
import path from 'node:path'
import { run } from '@restante/local/processes.ts'
import { root, toolsFolder } from '@restante/local/settings.ts'
import { type Answers, converse } from '../support/programs/conversation.ts'

/** What the modules of this folder require. */
const LEAST = '1.25'

/**
 * The Go that compiles programs: that of PATH, the one that is installed as go.dev says, or the one that
 * deploy/cluster/programs.sh has fetched. A name that is not found, or is too old, when there is none.
 */
export function findGo(): string {
  const candidates = ['go', '/usr/local/go/bin/go', path.join(toolsFolder(process.env), 'go/bin/go')]
  return candidates.find(isNewEnough) ?? 'go'
}

function isNewEnough(go: string): boolean {
  try {
    const version = execFileSync(go, ['env', 'GOVERSION'], { encoding: 'utf8', env: environment(), stdio: 'pipe' })
    return version.trim().replace('go', '').localeCompare(LEAST, 'en', { numeric: true }) >= 0
  } catch {
    return false
  }
}

/** Go does not fetch another version of itself. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
}

/** Compiles a program of this folder. The first time fetches the modules that its go.sum pins. @returns its path. */
export async function compileGo(name: string): Promise<string> {
  const program = path.join(root, '.restante/go', name)
  const cwd = path.join(import.meta.dirname, name)
  const words = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-o', program, '.']
  await run(findGo(), words, { cwd, env: environment() })
  return program
}

/**
 * Runs a compiled program and answers it.
 * @throws Error with what the program wrote to stderr when it fails.
 */
export function runGo(
  program: string,
  variables: Readonly<Record<string, string>>,
  answers: Answers,
): Promise<Readonly<Record<string, unknown>>> {
  return converse(path.basename(program), spawn(program, { env: variables }), answers)
}
