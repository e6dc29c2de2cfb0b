/** The secret in the response to the creation of a key. The type of the client also allows responses without one. */
export function secretOf(created: object): string {
  if ('apiKey' in created && typeof created.apiKey === 'string') return created.apiKey
  throw new Error('no key was created')
}
