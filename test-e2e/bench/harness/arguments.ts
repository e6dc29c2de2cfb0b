import { parseArgs } from 'node:util'
import { SERVICES } from '@restante/contracts'

/** What one call of `npm run bench` asks for. */
export interface Wishes {
  /** Names of benches, in the order in which they run. */
  readonly benches: readonly string[]
  /** A tenth of the load: to see that a change works, not how much it gains. */
  readonly quick: boolean
  /** What runs under `--cpu-prof`. */
  readonly profiled: ReadonlySet<string>
}

/** Processes of which a CPU profile can be taken: `messaging` are the programs of the bench `consumer`. */
const PROFILABLE: readonly string[] = [...SERVICES, 'messaging']

/** An argument that means nothing; its message says what there is. */
export class InvalidArgumentError extends Error {
  override readonly name = 'InvalidArgumentError'
}

/**
 * Reads `[bench ...] [--quick] [--profile[=service,...]]`; without names, all benches.
 * @param known every bench there is.
 * @throws InvalidArgumentError for anything else.
 */
export function readArguments(args: readonly string[], known: readonly string[]): Wishes {
  const { values, positionals } = parse(args)
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no bench '${unknown}', but: ${known.join(', ')}`)
  return {
    benches: positionals.length > 0 ? known.filter((name) => positionals.includes(name)) : known,
    quick: values.quick ?? false,
    profiled: profiled(values.profile),
  }
}

function parse(args: readonly string[]) {
  // `--profile` alone means all services, which parseArgs has no word for.
  const spelled = args.map((arg) => (arg === '--profile' ? '--profile=all' : arg))
  try {
    return parseArgs({
      args: spelled,
      allowPositionals: true,
      options: { quick: { type: 'boolean' }, profile: { type: 'string' } },
    })
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

function profiled(list: string | undefined): ReadonlySet<string> {
  const names = list === undefined ? [] : list === 'all' ? PROFILABLE : list.split(',')
  const unknown = names.find((name) => !PROFILABLE.includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`'${unknown}' cannot be profiled, but: ${PROFILABLE.join(', ')}`)
  return new Set(names)
}
