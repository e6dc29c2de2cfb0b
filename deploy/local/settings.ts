import { join, resolve } from 'node:path'
import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'
import { Advice } from './progress.ts'

/** The folder of the repository. */
export const root = resolve(import.meta.dirname, '../..')

/** Port of the first service; the others follow in the order of `SERVICES`. */
const firstPort = 3000

const otherPorts = {
  smtp: 2525,
  'captured-smtp': 1025,
  'captured-web': 1080,
  'sign-in': 3100,
  postgres: 54329,
  redis: 63799,
  kafka: 19092,
  'kafka-controller': 19093,
}

/** Every listener of the local stack. The HTTP port of a service is named after the service. */
export type Listener = ServiceName | keyof typeof otherPorts

function fixedPort(listener: Listener): number {
  return isOther(listener) ? otherPorts[listener] : firstPort + SERVICES.indexOf(listener)
}

function isOther(listener: Listener): listener is keyof typeof otherPorts {
  return Object.hasOwn(otherPorts, listener)
}

/** The HTTP port of a service by the name of its folder. */
export function listenerOf(service: string): Listener {
  const known = SERVICES.find((name) => name === service)
  if (known !== undefined) return known
  throw new Error(`services/${service} has no port: add it to SERVICES in libs/contracts/src/vocabulary/services.ts`)
}

/** Where programs that are fetched or compiled are kept, as the scripts of deploy/cluster know it: `RESTANTE_TOOLS`. */
export function toolsFolder(env: NodeJS.ProcessEnv): string {
  return env['RESTANTE_TOOLS'] ?? join(root, '.restante/tools')
}

/** Where the stack listens and stores its state. Only the environment changes it, see README.md. */
export interface Settings {
  readonly state: string
  readonly logs: string
  port(listener: Listener): number
}

/**
 * Reads `RESTANTE_STATE`, `RESTANTE_PORT_OFFSET` and `RESTANTE_<LISTENER>_PORT`.
 * Throws when one of them is not a usable port.
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const state = resolve(root, env['RESTANTE_STATE'] ?? '.restante')
  const offset = readNumber('RESTANTE_PORT_OFFSET', env['RESTANTE_PORT_OFFSET'] ?? '0')
  return {
    state,
    logs: join(state, 'logs'),
    port(listener) {
      const name = `RESTANTE_${listener.replaceAll('-', '_').toUpperCase()}_PORT`
      const named = env[name]
      const port = named === undefined ? fixedPort(listener) + offset : readNumber(name, named)
      if (port >= 1 && port <= 65_535) return port
      if (named !== undefined) throw new Advice(`${name}: ${port} is not a port (1 to 65535)`)
      throw new Advice(
        `RESTANTE_PORT_OFFSET: ${offset} moves ${listener} to ${port}, which is not a port (1 to 65535); use another offset, or set ${name}`,
      )
    },
  }
}

function readNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value)) throw new Advice(`${name}: '${text}' is not a whole number`)
  return value
}
