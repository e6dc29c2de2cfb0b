import { join } from 'node:path'
import { readSettings, root } from '../settings.ts'

describe('settings of the local stack', () => {
  it('keeps its state in .restante and the gateway on port 3000', () => {
    const settings = readSettings({})
    expect(settings.state).toBe(join(root, '.restante'))
    expect(settings.port('gateway')).toBe(3000)
  })

  it('moves every port by the offset, except one that is named', () => {
    const settings = readSettings({ RESTANTE_PORT_OFFSET: '100', RESTANTE_SMTP_PORT: '2600' })
    expect(settings.port('gateway')).toBe(3100)
    expect(settings.port('smtp')).toBe(2600)
  })

  it('refuses a value that is not a port, naming the variable', () => {
    expect(() => readSettings({ RESTANTE_GATEWAY_PORT: '70000' }).port('gateway')).toThrow('RESTANTE_GATEWAY_PORT')
    expect(() => readSettings({ RESTANTE_PORT_OFFSET: 'many' })).toThrow('RESTANTE_PORT_OFFSET')
    expect(() => readSettings({ RESTANTE_PORT_OFFSET: '4000' }).port('redis')).toThrow(
      'RESTANTE_PORT_OFFSET: 4000 moves redis to 67799',
    )
  })
})
