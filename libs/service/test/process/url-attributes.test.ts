import { type OperationDefinition, operations } from '@restante/contracts/operations'
import { BEFORE_SECRETS, incomingUrl } from '../../src/telemetry/url-attributes.ts'

/** Paths of the operations whose URL is the whole proof of a right, and that of the page to unsubscribe. */
const linked = [
  ...Object.values<OperationDefinition>(operations)
    .map(({ path }) => path)
    .filter((path) => path.includes('{token}')),
  '/u/{token}',
]

it('a trace shows no token of a link, of whatever operation', () => {
  expect(linked.length).toBeGreaterThan(2)
  expect([...BEFORE_SECRETS].toSorted()).toEqual(linked.map((path) => path.split('/').at(-2)).toSorted())
  for (const path of linked) {
    expect(incomingUrl({ url: `/v0${path.replace('{token}', 'secret')}?more` })['url.path']).not.toContain('secret')
  }
})
