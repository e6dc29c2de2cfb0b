import path from 'node:path'

const SERVICE_NODE = path.resolve(import.meta.dirname, '../../bin/service-node')

/**
 * The command that runs a service with this composition root, or an operator's program with this main file, on the
 * current Node and with the settings that every service has everywhere (`bin/service-node`).
 * @param nodeArguments additional ones, such as those of a profiler.
 */
export function serviceCommand(
  main: string,
  nodeArguments: readonly string[] = [],
): [program: string, ...args: string[]] {
  return [SERVICE_NODE, process.execPath, ...nodeArguments, main]
}
