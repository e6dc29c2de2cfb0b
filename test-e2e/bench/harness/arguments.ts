import { parseArgs } from 'node:util'
import { SERVICES } from '@restante/contracts/vocabulary'
import { messageOf } from '@restante/service/errors'

/** The arguments of one `npm run bench`. */
export interface BenchOptions {
  /** Names of benches, in the order in which they run. */
  readonly benches: readonly string[]
  /** A tenth of the load, to check that a change works and not how much it gains. */
  readonly quick: boolean
  /** Processes that run under `--cpu-prof`. */
  readonly profiled: ReadonlySet<string>
}

/** Processes that can be profiled. `messaging` stands for the programs of the bench `consumer`. */
const PROFILABLE: readonly string[] = [...SERVICES, 'messaging']

/** An unknown argument. The message lists what is available. */
export class InvalidArgumentError extends Error {
  override readonly name = 'InvalidArgumentError'
}

/**
 * Reads `[bench ...] [--quick] [--profile[=service,...]]`; without names, all benches.
 * @param known the names of all benches.
 * @throws InvalidArgumentError for anything else.
 */
export function readArguments(args: readonly string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args)
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no bench '${unknown}'. Available: ${known.join(', ')}`)
  return {
    benches: positionals.length > 0 ? known.filter((name) => positionals.includes(name)) : known,
    quick: values.quick ?? false,
    profiled: profiled(values.profile),
  }
}

function parse(args: readonly string[]) {
  // `--profile` alone means all services, which parseArgs cannot express.
  const spelled = args.map((arg) => (arg === '--profile' ? '--profile=all' : arg))
  try {
    return parseArgs({
      args: spelled,
      allowPositionals: true,
      options: { quick: { type: 'boolean' }, profile: { type: 'string' } },
    })
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error))
  }
}

function profiled(list: string | undefined): ReadonlySet<string> {
  const names = list === undefined ? [] : list === 'all' ? PROFILABLE : list.split(',')
  const unknown = names.find((name) => !PROFILABLE.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`'${unknown}' cannot be profiled. Available: ${PROFILABLE.join(', ')}`)
  return new Set(names)
}
