import { SERVICES } from '@restante/contracts/vocabulary'
import { InvalidArgumentError, readArguments } from '../harness/arguments.ts'
import { reported } from '../harness/figures.ts'
import { describeMachine } from '../harness/machine.ts'
import { summarize } from '../harness/statistics.ts'
import { table } from '../harness/table.ts'

const known = ['memory', 'latency', 'smtp']

describe('the arguments of npm run bench', () => {
  it('select all benches when they name none', () => {
    expect(readArguments([], known)).toEqual({ benches: known, quick: false, profiled: new Set() })
  })

  it('select benches by name, in their usual order', () => {
    expect(readArguments(['smtp', 'memory', '--quick'], known)).toMatchObject({
      benches: ['memory', 'smtp'],
      quick: true,
    })
  })

  it('select the processes to profile: all, or those that are named', () => {
    expect(readArguments(['--profile', 'smtp'], known)).toMatchObject({ benches: ['smtp'] })
    expect([...readArguments(['--profile'], known).profiled]).toEqual([...SERVICES, 'messaging'])
    expect(readArguments(['--profile=gateway,mail-send'], known).profiled).toEqual(new Set(['gateway', 'mail-send']))
  })

  it.each([[['speed']], [['--profile=nobody']], [['--fast']]])('%j are rejected', (args) => {
    expect(() => readArguments(args, known)).toThrow(InvalidArgumentError)
  })
})

describe('figures of a bench', () => {
  it('are percentiles of their sample, by nearest rank', () => {
    const sample = Array.from({ length: 200 }, (_, index) => 200 - index)
    expect(summarize(sample)).toEqual({ count: 200, p50: 100, p99: 198, max: 200 })
    expect(summarize([7])).toEqual({ count: 1, p50: 7, p99: 7, max: 7 })
  })

  it('cannot be computed from an empty sample', () => {
    expect(() => summarize([])).toThrow('empty')
  })

  it('contain their ratio to the reference and whether their goal is met', () => {
    const reference = { what: 'another', value: 400 }
    const figure = reported('smtp', { name: 'accepted', value: 300, unit: '/s', reference, goal: { atLeast: 300 } })
    expect(figure).toMatchObject({ bench: 'smtp', ratio: 0.75, goalMet: true })
    expect(reported('smtp', { name: 'late', value: 41, unit: 'ms', goal: { atMost: 40 } }).goalMet).toBe(false)
  })

  it('are printed as an aligned table, one per line', () => {
    const reference = { what: 'another', value: 1.5 }
    const lines = table([
      reported('smtp', { name: 'accepted', value: 300.4, unit: '/s', goal: { atLeast: 310 } }),
      reported('gateway', { name: 'added', value: 3, unit: 'ms', reference }),
    ]).split('\n')
    expect(lines).toEqual([
      'bench    figure    measured  reference         ratio  goal',
      'smtp     accepted    300 /s                           MISSED: at least 310 /s',
      'gateway  added      3.00 ms  another: 1.50 ms   2.00',
    ])
  })

  it('are reported with the machine and the engine versions that they were measured on', async () => {
    const machine = await describeMachine()
    expect(machine).toMatchObject({ node: process.version, cores: expect.any(Number), cpu: expect.any(String) })
    for (const version of [machine.postgres, machine.redis, machine.kafka]) expect(version).toMatch(/^\d+\.\d+/)
  })
})
