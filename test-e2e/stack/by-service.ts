import { SERVICES, type ServiceName, STORING_SERVICES, type StoringName } from '@restante/contracts/vocabulary'

/** A value for each service. */
export type ByService<T> = Record<ServiceName, T>
/** A value for each service that has a database. */
export type ByStoringService<T> = Record<StoringName, T>

export function byService<T>(make: (name: ServiceName) => T): ByService<T> {
  return forEach(SERVICES, make)
}

export function byStoringService<T>(make: (name: StoringName) => T): ByStoringService<T> {
  return forEach(STORING_SERVICES, make)
}

function forEach<Name extends ServiceName, T>(names: readonly Name[], make: (name: Name) => T): Record<Name, T> {
  const made: Partial<Record<Name, T>> = {}
  for (const name of names) made[name] = make(name)
  if (isComplete(names, made)) return made
  throw new Error('a service was left out')
}

function isComplete<Name extends ServiceName, T>(
  names: readonly Name[],
  made: Partial<Record<Name, T>>,
): made is Record<Name, T> {
  return names.every((name) => Object.hasOwn(made, name))
}
