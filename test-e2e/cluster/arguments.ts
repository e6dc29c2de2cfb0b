import { parseArgs } from 'node:util'

export interface Arguments {
  /** Only the API server, which checks what the chart renders. */
  readonly apiOnly: boolean
  /** Whether the cluster stays after a failure, to be looked at. */
  readonly keep: boolean
  /** Whether images are used as they were built before. */
  readonly skipBuild: boolean
}

export const USAGE = `usage: npm run test:cluster -- [options]
  --api-only   checks what the chart renders with an API server, without nodes: half a minute
  --keep       leaves the cluster after a failure; deploy/cluster/cluster.sh down ends it
  --skip-build uses the images as they were built before`

/** Reads the command line. @throws InvalidArgumentError when it is not one that USAGE describes. */
export function readArguments(args: readonly string[]): Arguments | 'help' {
  const options = {
    'api-only': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    'skip-build': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options })
    if (values.help) return 'help'
    return { apiOnly: values['api-only'], keep: values.keep, skipBuild: values['skip-build'] }
  } catch (error) {
    throw new InvalidArgumentError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  }
}

export class InvalidArgumentError extends Error {
  override readonly name = 'InvalidArgumentError'
}
