import { ApiError } from '@restante/service/errors'
import { requireMatch } from '../../src/documents/index.ts'

it('lets a change pass without a tag, with the tag of the resource among several, and with a star', () => {
  for (const ifMatch of [undefined, '*', ['"rv-3"'], ['"rv-1"', '"rv-3"']] as const) {
    expect(() => requireMatch(ifMatch, '"rv-3"', 3)).not.toThrow()
  }
})

it('refuses a change of another version and names the present revision', () => {
  const refused = () => requireMatch(['"rv-2"'], '"rv-3"', 3)
  expect(refused).toThrow(ApiError)
  expect(refused).toThrow(expect.objectContaining({ status: 412, code: 'precondition_failed' }))
  expect(refused).toThrow(expect.objectContaining({ options: { details: { current_revision: 3 } } }))
})
