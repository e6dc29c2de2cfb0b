import { randomBytes } from 'node:crypto'
import { SERVICES, type ServiceName, variablePart } from '@restante/contracts/vocabulary'
import { UsageError } from '../operator/usage-error.ts'
import type { SecretVariable } from './needed.ts'

/** Values by service and variable. */
export type SecretValues = ReadonlyMap<ServiceName, ReadonlyMap<string, string>>

export interface Sources {
  /** Values that the operator gives. They go before all others. */
  readonly given: SecretValues
  /** Values that the installation has. */
  readonly kept: SecretValues
}

/** Credentials of the object store, which its client reads by itself: the services declare no variables for them. */
export const OBJECT_STORE_VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const

/** Only the operator knows the addresses of engines. */
const isAddress = (name: string) => name.endsWith('_URL')

/**
 * The secrets of every service: what is given, else what is kept, else a new random value. A key that services share has
 * one value for all of them. Optional variables are left out unless they are given or kept.
 * @throws UsageError when an address is missing, or when services that share a key have different ones.
 */
export function secretValues(variables: readonly SecretVariable[], { given, kept }: Sources): SecretValues {
  const known = new Map<string, string>()
  for (const source of [kept, given]) collect(variables, source, known)
  const missing = variables.filter((it) => it.required && isAddress(it.name) && !known.has(identity(it)))
  if (missing.length > 0)
    throw new UsageError(`Missing: ${missing.map(({ service, name }) => `${name} of ${service}`).join(', ')}.`)
  for (const variable of variables.filter(({ required }) => required)) {
    const id = identity(variable)
    if (!known.has(id)) known.set(id, randomBytes(32).toString('hex'))
  }
  return new Map(
    SERVICES.map((service) => {
      const own = variables.filter((variable) => variable.service === service)
      const values = own.flatMap((variable): [string, string][] => {
        const value = known.get(identity(variable))
        return value === undefined ? [] : [[variable.name, value]]
      })
      return [service, new Map([...extraValues(service, kept), ...extraValues(service, given), ...values])]
    }),
  )
}

function collect(variables: readonly SecretVariable[], source: SecretValues, known: Map<string, string>): void {
  const found = new Map<string, { readonly value: string; readonly at: string }>()
  for (const variable of variables) {
    const value = source.get(variable.service)?.get(variable.name)
    if (value === undefined) continue
    const id = identity(variable)
    const at = `${variable.name} of ${variable.service}`
    const other = found.get(id)
    if (other !== undefined && other.value !== value) throw new UsageError(`${other.at} and ${at} must be equal.`)
    found.set(id, { value, at })
  }
  for (const [id, { value }] of found) known.set(id, value)
}

function extraValues(service: ServiceName, source: SecretValues): [string, string][] {
  return OBJECT_STORE_VARIABLES.flatMap((name): [string, string][] => {
    const value = source.get(service)?.get(name)
    return value === undefined ? [] : [[name, value]]
  })
}

/** The same for variables that must have the same value. */
function identity({ service, name, isShared }: SecretVariable): string {
  if (isShared) return name
  if (name === 'CALLER_KEY') return callerKey(service)
  const called = SERVICES.find((other) => name === `CALLER_KEY_${variablePart(other)}`)
  if (called !== undefined) return callerKey(called)
  const peer = SERVICES.find((other) => name === `PEER_KEY_${variablePart(other)}`)
  if (peer !== undefined) return `key of ${[service, peer].toSorted().join(' and ')}`
  return `${name} of ${service}`
}

function callerKey(service: ServiceName): string {
  return `caller key of ${service}`
}
