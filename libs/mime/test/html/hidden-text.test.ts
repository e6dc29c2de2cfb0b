import { visibleText } from '../../src/html/visible-text.ts'

/** Declarations of a value that no browser takes: the one before it still applies. */
const UNDONE_IN_VAIN = [
  'display:none;display:shown',
  'display:none;display:block block',
  'display:none;display:shown()',
  'visibility:hidden;visibility:shown',
  'opacity:0;opacity:full',
  'color:#fff;color:dark',
  'color:#fff;color:rgb(dark)',
  'font-size:0;font-size:huge',
  'max-height:0;max-height:tall',
  'height:0;overflow:hidden;overflow:shown',
  'height:0;overflow:hidden;height:tall',
  'position:absolute;left:-9999px;left:here',
  'position:absolute;left:-9999px;position:here',
  'text-indent:-9999px;text-indent:here',
  'margin:-9999px;margin:here',
  'transform:scale(0);transform:large()',
  'clip-path:inset(50%);clip-path:wide',
]

describe('text is hidden by', () => {
  it.each([
    ...UNDONE_IN_VAIN,
    'position:absolute;inset:-9999px',
    'position:absolute;inset-inline-start:-9999px',
    'margin-inline-start:-9999px',
    'translate:-9999px',
    'block-size:0;overflow:hidden',
    'max-inline-size:0',
    'zoom:.01',
    'zoom:1%',
    'font-size:2px',
  ])('%s', (style) => {
    expect(visibleText(`<p>Hello</p><p style="${style}">SECRET</p>`)).toEqual({
      text: 'Hello',
      hiddenChars: 6,
      unreadChars: 0,
    })
  })

  it.each([
    ['a description of a drawing', '<svg><desc>SECRET</desc></svg>'],
    ['a note to a formula', '<math><semantics><mi>Hello</mi><annotation>SECRET</annotation></semantics></math>'],
    ['what readings are written in', '<ruby>Hello<rp>SECRET</rp></ruby>'],
  ])('%s', (_, html) => {
    const { text, hiddenChars } = visibleText(html)
    expect(text).not.toContain('SECRET')
    expect(hiddenChars).toBe(6)
  })
})

describe('text is shown again by', () => {
  it.each([
    'display:none;display:table-cell',
    'display:none;display:inline flow-root',
    'display:none;display:var(--x)',
    'visibility:hidden;visibility:visible',
    'opacity:0;opacity:50%',
    'color:#fff;color:rgb(0 0 0 / 90%)',
    'font-size:0;font-size:1.2em',
    'font-size:0;font-size:larger',
    'max-height:0;max-height:none',
    'max-height:0;max-height:calc(1em + 2px)',
    'text-indent:-9999px;text-indent:0',
    'position:absolute;left:-9999px;left:auto',
    'transform:scale(0);transform:none',
    'zoom:1',
    'zoom:0',
    'zoom:100%',
  ])('%s', (style) => {
    expect(visibleText(`<p style="${style}">Hello</p>`)).toMatchObject({ text: 'Hello', hiddenChars: 0 })
  })
})
