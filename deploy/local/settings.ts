import { join, resolve } from 'node:path'

/** The folder of the repository. */
export const root = resolve(import.meta.dirname, '../..')

const fixedPorts = {
  gateway: 3000,
  'mail-ingest': 3001,
  'mail-send': 3002,
  'webhooks-dispatcher': 3003,
  'websocket-fanout': 3004,
  smtp: 2525,
  'captured-smtp': 1025,
  'captured-web': 1080,
  postgres: 54329,
  redis: 63799,
  kafka: 19092,
  'kafka-controller': 19093,
}

/** Every listener of the local stack. */
export type Listener = keyof typeof fixedPorts

/** The HTTP port of a service is named after the service. */
export function listenerOf(service: string): Listener {
  if (isListener(service)) return service
  throw new Error(`services/${service} has no port: add one in deploy/local/settings.ts`)
}

function isListener(name: string): name is Listener {
  return Object.hasOwn(fixedPorts, name)
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
      const port = readNumber(name, env[name] ?? String(fixedPorts[listener] + offset))
      if (port < 1 || port > 65_535) throw new Error(`${name}: ${port} is not a port (1 to 65535)`)
      return port
    },
  }
}

function readNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value)) throw new Error(`${name}: '${text}' is not a whole number`)
  return value
}
