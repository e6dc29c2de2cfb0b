import path from 'node:path'

const SERVICE_NODE = path.resolve(import.meta.dirname, '../../bin/service-node')

/**
 * The command that becomes the service with this composition root, or the operator's program with this main file, on
 * the Node that runs now and under the settings that every service has everywhere (`bin/service-node`).
 * @param nodeArguments further ones, such as those of a profiler.
 */
export function serviceCommand(
  main: string,
  nodeArguments: readonly string[] = [],
): [program: string, ...args: string[]] {
  return [SERVICE_NODE, process.execPath, ...nodeArguments, main]
}
