import { SERVICES, type ServiceName } from '@restante/contracts/vocabulary'

/** A value for each service. */
export type ByService<T> = Record<ServiceName, T>

export function byService<T>(make: (name: ServiceName) => T): ByService<T> {
  const made: Partial<ByService<T>> = Object.fromEntries(SERVICES.map((name) => [name, make(name)]))
  if (isComplete(made)) return made
  throw new Error('a service was left out')
}

function isComplete<T>(made: Partial<ByService<T>>): made is ByService<T> {
  return SERVICES.every((name) => Object.hasOwn(made, name))
}
