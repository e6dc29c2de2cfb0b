import { z } from 'zod'
import { ConfigurationError, env, parseDuration, readEnvironment } from '../../src/configuration/environment.ts'

const schema = z.object({
  PORT: env.port(3000),
  URL: env.url(),
  WAIT: env.duration('5s'),
  ON: env.flag(false),
  BROKERS: env.list('a:1, b:2'),
  MODE: env.choice(['dns', 'trust'], 'dns'),
  KEY: env.secret(),
  NAME: env.string().optional(),
})
const good = { URL: 'http://x.example', KEY: '0123456789abcdef' }

describe('readEnvironment', () => {
  it('fills in defaults and converts values', () => {
    expect(readEnvironment(schema, good)).toEqual({
      PORT: 3000,
      URL: 'http://x.example',
      WAIT: 5000,
      ON: false,
      BROKERS: ['a:1', 'b:2'],
      MODE: 'dns',
      KEY: '0123456789abcdef',
    })
  })

  it('treats an empty variable as absent', () => {
    expect(readEnvironment(schema, { ...good, PORT: '', NAME: '' }).PORT).toBe(3000)
  })

  it('names every wrong variable in one message, and no value', () => {
    const wrong = { PORT: '70000', WAIT: 'soon', ON: 'yes', MODE: 'maybe', KEY: 'hunter2' }
    const error = (() => {
      try {
        return readEnvironment(schema, wrong)
      } catch (error) {
        return error
      }
    })()
    expect(error).toBeInstanceOf(ConfigurationError)
    const message = error instanceof Error ? error.message : ''
    for (const name of ['PORT', 'URL is missing', 'WAIT', 'ON', 'MODE', 'KEY']) expect(message).toContain(name)
    expect(message).not.toContain('hunter2')
  })
})

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['5s', 5_000],
    ['15m', 900_000],
    ['72h', 259_200_000],
    ['1d', 86_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '5', 's', '1.5s', '-1s', '5 s'])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})
