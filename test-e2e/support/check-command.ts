import { attemptToOperate, type Operated } from '@restante/testkit'
import type { Endpoints } from '../stack/endpoints.ts'

/** What `check --json` prints of one inconsistency. */
export interface FoundLine {
  readonly of: string
  readonly check: string
  readonly subject: string
  readonly problem: string
  readonly state: string
}

export function runAdmin({ operator }: Pick<Endpoints, 'operator'>, ...words: string[]): Promise<Operated> {
  return attemptToOperate(operator, ...words)
}

/** Runs `check --json`. @returns its exit code and what it found. */
export async function check(
  endpoints: Pick<Endpoints, 'operator'>,
  ...words: string[]
): Promise<{ readonly code: number; readonly found: readonly FoundLine[]; readonly stderr: string }> {
  const { code, stdout, stderr } = await runAdmin(endpoints, 'check', '--json', ...words)
  const found = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): FoundLine => JSON.parse(line))
  return { code, found, stderr }
}
