import { filledIn, readInstructions } from './readme.ts'

describe('the README of the chart', () => {
  it('asks for the variables that the cluster of the tests fills in', async () => {
    const { variables } = await readInstructions()
    expect(variables.toSorted()).toEqual(Object.keys(filledIn('test')).toSorted())
  })
})
