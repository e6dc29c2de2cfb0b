import { ConfigurationError } from '@restante/service/configuration'
import { createLogger } from '@restante/service/telemetry'
import { configuration } from '../../src/config.ts'
import { LOOK_ALIKES, looksLike } from '../../src/inboxes/names/look-alikes.ts'
import { SystemSenderCheck } from '../../src/inboxes/names/system-sender.ts'
import { service as gatewayService } from '../../src/main.ts'
import { startGateway, type TestGateway } from '../gateway.ts'

describe('names that look like the name of the installation', () => {
  it.each([
    'Restante',
    'RESTANTE',
    ' restante ',
    'R e s t a n t e',
    'Re\u200bstante',
    'Res\u00adtante',
    'Restante.',
    '"Restante"',
    'Ｒｅｓｔａｎｔｅ',
    '𝐑𝐞𝐬𝐭𝐚𝐧𝐭𝐞',
    'Ŗéştänţë',
    'Rеstаntе',
    'ᖇestante',
    'Rest\u0430nte',
    'Ꭱestante',
    'Reѕtante',
    '\u202eRestante',
    'ʀᴇꜱᴛᴀɴᴛᴇ',
    'Reꜱtаɴte',
    'rеstаnте',
    'Rеstaпtе',
    'ᖇᗴᔕTᗩᑎTᗴ',
    'ᴿᵉˢᵗᵃⁿᵗᵉ',
    '🆁🅴🆂🆃🅰🅽🆃🅴',
    '🅡🅔🅢🅣🅐🅝🅣🅔',
    '🇷🇪🇸🇹🇦🇳🇹🇪',
    '尺乇丂ㄒ卂几ㄒ乇',
    'RESTΛNTΞ',
    'Яestante',
    'Rǝstantɘ',
    'Restan†e',
    'Restante†',
    'Restante™',
    'Restante®',
    'Restante (TM)',
    'Restanteᵀᴹ',
    'Res₮ante ©',
    '◇ Restante ✓',
  ])('%j looks like it', (name) => {
    expect(looksLike(name, 'Restante')).toBe(true)
  })

  it.each([
    ['Mail', 'MaiI'],
    ['Mail', 'Mai1'],
    ['Modern Inbox', 'Modem lnbox'],
    ['Wool', 'VV00l'],
    ['Почта', 'ПОЧТА'],
    ['★', ' ★'],
  ])('for the name %j, %j looks like it', (own, name) => {
    expect(looksLike(name, own)).toBe(true)
  })

  it.each(['Restante Support', 'My Restante', 'Resta', 'Rest', 'Desk', '', '★', 'Instante', '受信箱'])(
    'lets %j alone',
    (name) => {
      expect(looksLike(name, 'Restante')).toBe(false)
    },
  )
})

describe('look-alikes of a name', () => {
  const NAME = 'quick brown fox jumps over the lazy dog 23456789 aeon oeuvre barn'
  const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz')
  const SMALL_CAPITALS = Array.from('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ')

  const missed = (relatives: readonly (readonly [ascii: string, relative: string])[]) =>
    relatives.filter(([ascii, relative]) =>
      [NAME.replace(ascii, relative), NAME.replaceAll(ascii, relative)].some((name) => !looksLike(name, NAME)),
    )

  it('are found with each replacement of one letter and of all', () => {
    const relatives = LOOK_ALIKES.flatMap(([ascii, characters]) =>
      Array.from(characters, (character) => [ascii, character] as const),
    )
    expect(relatives.length).toBeGreaterThan(900)
    expect(missed(relatives)).toEqual([])
  })

  it('are small capitals', () => {
    expect(missed(LETTERS.map((ascii, place) => [ascii, SMALL_CAPITALS[place] ?? ''] as const))).toEqual([])
    expect(looksLike(Array.from(NAME, (of) => SMALL_CAPITALS[LETTERS.indexOf(of)] ?? of).join(''), NAME)).toBe(true)
  })

  it.each([
    ['fullwidth', 0xff21],
    ['parenthesized', 0x249c],
    ['circled', 0x24d0],
    ['squared', 0x1f130],
    ['negative circled', 0x1f150],
    ['negative squared', 0x1f170],
    ['regional', 0x1f1e6],
    ['bold', 0x1d400],
    ['sans-serif', 0x1d5a0],
    ['monospace', 0x1d68a],
  ])('are %s letters', (_alphabet, first) => {
    const relative = (place: number) => String.fromCodePoint(first + place)
    expect(missed(LETTERS.map((ascii, place) => [ascii, relative(place)] as const))).toEqual([])
    const all = Array.from(NAME, (of) => (LETTERS.includes(of) ? relative(LETTERS.indexOf(of)) : of)).join('')
    expect(looksLike(all, NAME)).toBe(true)
  })
})

describe('the sender of the installation', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ SYSTEM_SENDER: 'post-office', SYSTEM_SENDER_NAME: 'Post Office' })
  })
  afterAll(() => gateway.stop())

  const configOf = (more: Record<string, string>) => configuration.read({ ...gateway.env, ...more })

  it('has an address that no inbox gets, whatever names are freed', async () => {
    const other = await gateway.another({ FREE_USERNAMES: 'postoffice' })
    for (const username of ['post-office', 'postoffice', 'Post.Office']) {
      expect((await other.as().post('/v0/agent/sign-up', { username })).body['code']).toBe('resource_taken')
    }
    expect((await gateway.as().post('/v0/agent/sign-up', { username: 'no-reply' })).status).toBe(403)
  })

  it('has a name that no inbox of a shared domain gets: 400 at the field', async () => {
    const { api } = await gateway.organization()
    const { body: inbox } = await api.post('/v0/inboxes', { display_name: 'Front desk' })
    const path = `/v0/inboxes/${inbox['inbox_id']}`
    for (const display_name of ['Post Office', 'PΟST ΟFFІCE', 'post\u2003office']) {
      for (const { status, body } of [
        await api.post('/v0/inboxes', { display_name }),
        await api.patch(path, { display_name, status: 'paused' }),
      ]) {
        expect(status).toBe(400)
        expect(body).toMatchObject({ code: 'validation_error', errors: [{ path: ['display_name'] }] })
      }
    }
    expect((await api.get(path)).body).toEqual(inbox)
    expect((await api.patch(path, { display_name: 'Post Office of Springfield' })).status).toBe(200)
    expect((await api.get('/v0/inboxes')).body).toMatchObject({ count: 1 })
  })

  it.each(['\u202eeciffO tsoP', 'Desk \u2066x\u2069', 'Desk\u200f', '\u061cDesk'])(
    '400 at the field for %j, whose characters set the direction of text',
    async (display_name) => {
      const { api } = await gateway.organization()
      const { body: inbox } = await api.post('/v0/inboxes', { display_name: 'مكتب' })
      expect(inbox['display_name']).toBe('مكتب')
      for (const { status, body } of [
        await api.post('/v0/inboxes', { display_name }),
        await api.patch(`/v0/inboxes/${inbox['inbox_id']}`, { display_name }),
      ]) {
        expect(status).toBe(400)
        expect(body).toMatchObject({ code: 'validation_error', errors: [{ path: ['display_name'] }] })
      }
    },
  )

  it('stops the start with an explanation when its address is a live inbox', async () => {
    const { api, id } = await gateway.organization()
    await api.post('/v0/inboxes', { username: 'herald' })
    const service = await gatewayService.create(
      configOf({ SYSTEM_SENDER: 'herald' }),
      createLogger({ service: 'test', level: 'silent' }),
    )
    await expect(service.start()).rejects.toThrow('herald@restante.test is an inbox')
    await gateway.db.orm.inbox.updateMany({ where: { organizationId: id }, data: { deletedAt: new Date() } })
    const check = new SystemSenderCheck({
      db: gateway.db,
      address: 'herald@restante.test',
      log: createLogger({ service: 'test', level: 'silent' }),
    })
    await expect(check.start()).resolves.toBeUndefined()
  })

  it('keeps existing inboxes under reserved names working', async () => {
    const free = await gateway.another({ FREE_USERNAMES: 'admin' })
    const { api, id } = await gateway.organization()
    const { body } = await free
      .as((await gateway.operator.createKey({ organizationId: id })).secret)
      .post('/v0/inboxes', {
        username: 'admin',
      })
    expect((await api.get(`/v0/inboxes/${body['inbox_id']}`)).status).toBe(200)
    expect((await api.patch(`/v0/inboxes/${body['inbox_id']}`, { status: 'paused' })).status).toBe(200)
  })

  it.each([
    [{ SYSTEM_SENDER: 'Not A Local Part' }, 'SYSTEM_SENDER'],
    [{ SYSTEM_SENDER_NAME: 'two\nlines' }, 'SYSTEM_SENDER_NAME'],
    [{ DEFAULT_DISPLAY_NAME: 'Pοst Office' }, 'DEFAULT_DISPLAY_NAME'],
  ])('refuses the configuration %j', (more, variable) => {
    expect(() => configOf(more)).toThrow(ConfigurationError)
    expect(() => configOf(more)).toThrow(variable)
  })
})
