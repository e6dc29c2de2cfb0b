/** The secret in the answer of a key's creation: the client's type also allows for answers without one. */
export function secretOf(created: object): string {
  if ('apiKey' in created && typeof created.apiKey === 'string') return created.apiKey
  throw new Error('no key was created')
}
