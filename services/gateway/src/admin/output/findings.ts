import type { CheckPage, Finding } from '@restante/contracts/internal'
import { messageOf, UpstreamError } from '@restante/service/errors'
import { UpstreamRejectedError } from '@restante/service/http'
import type { InstallationCheck } from '../checks/request.ts'
import type { Console } from './console.ts'

/** Findings of one check that are printed for people. */
const SHOWN = 20

/** What a check has found. */
interface Counts {
  readonly examined: number
  readonly found: number
  readonly repaired: number
}

/** Runs one check and prints what it finds as it finds it. */
export async function runCheck(console: Console, check: InstallationCheck, asJson: boolean): Promise<Counts> {
  const { of, name } = check
  const own = { examined: 0, found: 0, repaired: 0 }
  const shown: Finding[] = []
  for await (const { examined, findings } of withoutFailure(check)) {
    own.examined += examined
    own.found += findings.length
    own.repaired += findings.filter(({ state }) => state === 'repaired').length
    if (asJson) for (const finding of findings) console.print(JSON.stringify({ of, check: name, ...finding }))
    shown.push(...findings.slice(0, SHOWN - shown.length))
  }
  if (asJson) return own
  console.print(`${of.padEnd(20)} ${name.padEnd(9)} ${countsOf(own)}`)
  for (const finding of shown) console.print(linesOf(finding))
  if (own.found > shown.length) console.print(`    and ${own.found - shown.length} more: --json lists all`)
  return own
}

/** A service that cannot be asked is a finding, and no reason to leave the others out. */
async function* withoutFailure({ of, pages }: InstallationCheck): AsyncGenerator<CheckPage> {
  try {
    yield* pages()
  } catch (error) {
    if (!(error instanceof UpstreamError) && !(error instanceof UpstreamRejectedError)) throw error
    const finding: Finding = { subject: of, problem: `it cannot be asked: ${messageOf(error)}`, state: 'open' }
    yield { examined: 0, findings: [finding] }
  }
}

function countsOf({ examined, found, repaired }: Counts): string {
  if (found === 0) return `${examined} examined`
  return repaired === 0
    ? `${examined} examined, ${found} found`
    : `${examined} examined, ${found} found, ${repaired} repaired`
}

function linesOf({ subject, problem, state, advice }: Finding): string {
  const line = `  ${state === 'open' ? '!' : '-'} ${subject}: ${problem}${state === 'repaired' ? ' (repaired)' : ''}`
  return advice === undefined || state === 'repaired' ? line : `${line}\n    ${advice}`
}
