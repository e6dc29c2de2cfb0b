import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

type Environment = Readonly<Record<string, string | undefined>>

let flush: (() => Promise<void>) | undefined

/**
 * Turns OpenTelemetry on when the standard variables name an OTLP endpoint, and leaves it out of the process
 * otherwise. Called by `preload.ts`, before the instrumented modules are loaded.
 */
export async function startTelemetry(environment: Environment): Promise<void> {
  if (!isWanted(environment)) return
  const { startSdk } = await import('./sdk.ts')
  flush = startSdk(environment['OTEL_SERVICE_NAME'] ?? programName(process.argv[1]))
}

/** Sends the spans that are buffered, and stops recording. */
export async function stopTelemetry(): Promise<void> {
  await flush?.()
}

/** Whether traces are configured and the process was started without `preload.ts`, so that there are none. */
export function isTelemetryMissing(environment: Environment): boolean {
  return isWanted(environment) && flush === undefined
}

function isWanted(environment: Environment): boolean {
  const endpoint = environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  return endpoint !== undefined && environment['OTEL_SDK_DISABLED'] !== 'true'
}

const packageFile = z.object({ name: z.string() })

/** The package of the program without its scope: `gateway`. */
function programName(main: string | undefined): string {
  const file = main === undefined ? undefined : findPackageJSON(pathToFileURL(main))
  if (file === undefined) return 'restante'
  return packageFile.parse(JSON.parse(readFileSync(file, 'utf8'))).name.replace(/^@[^/]*\//, '')
}
