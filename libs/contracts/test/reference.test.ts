import { documents } from '../src/generate/documents.ts'
import { ERROR_HELP } from '../src/generate/reference/error-help.ts'
import { exampleInput, exampleOf } from '../src/generate/reference/examples.ts'
import { OPERATION_GROUPS, type OperationDefinition, operations, pathsOf } from '../src/operations/index.ts'
import { ERRORS, type ErrorDefinition } from '../src/vocabulary/index.ts'

const generated = documents()
const all = Object.values<OperationDefinition>(operations)

describe('the reference in Markdown', () => {
  it('has each operation on the page of its group, with its paths and its example', () => {
    expect(OPERATION_GROUPS.flatMap((group) => group.operations)).toHaveLength(all.length)
    for (const group of OPERATION_GROUPS) {
      const text = generated[`api/${group.page}.md`] ?? ''
      expect(generated['api/index.md']).toContain(`](${group.page}.md)`)
      for (const operation of group.operations) {
        expect(text).toContain(`## \`${operation.id}\``)
        expect(text).toContain(exampleOf(operation))
        for (const { path } of pathsOf(operation)) expect(text).toContain(`\`${operation.method} ${path}\``)
      }
    }
  })

  it.each(all.map((operation) => [operation.id, operation] as const))(
    'shows an example of %s that the operation takes',
    (_, operation) => {
      const { query, body } = exampleInput(operation)
      expect(operation.query.safeParse(query)).toMatchObject({ success: true })
      if (operation.body !== undefined) expect(operation.body.safeParse(body)).toMatchObject({ success: true })
    },
  )
})

describe('the page of errors', () => {
  it.each(Object.entries<ErrorDefinition>(ERRORS))('says of %s what it means and what to do', (code, { fix }) => {
    const help = Object.entries(ERROR_HELP).find(([name]) => name === code)?.[1]
    expect(help?.meaning).toMatch(/\.$/)
    expect(help?.remedy ?? fix).toMatch(/\.$/)
    const [, section = ''] = generated['errors.md']?.split(`\n## \`${code}\`\n`) ?? []
    expect(section.split('\n## ')[0]).toContain('**Answered by** ')
  })
})
