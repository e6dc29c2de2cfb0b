import { ApiFailure } from '../../src/api/failure.ts'
import { failed } from '../../src/endpoint/results.ts'

it('an error that quotes what others wrote holds nothing invisible', () => {
  const errors = [{ path: ['to', 0], message: 'a\u200bb' }]
  const { result } = failed(
    new ApiFailure(400, { code: 'x', message: 'to: "\u202eb"', errors }),
    'https://docs.example',
  )
  expect(result.structuredContent).toEqual({
    code: 'x',
    message: 'to: "b"',
    errors: [{ path: ['to', 0], message: 'ab' }],
  })
  expect(result.content).toEqual([{ type: 'text', text: 'to: "b"' }])
})
