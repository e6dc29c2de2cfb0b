/** Destinations that are not text of the document. A destination that is marked as optional (`\*`) is none either. */
export const UNSHOWN = new Set([
  'colortbl',
  'stylesheet',
  'info',
  'pict',
  'nonshppict',
  'objdata',
  'fldinst',
  'sp',
  'shprslt',
  'xe',
  'tc',
  'ftnsep',
  'ftnsepc',
  'ftncn',
  'aftnsep',
  'aftnsepc',
  'aftncn',
  'filetbl',
  'listtable',
  'listoverridetable',
  'atnid',
  'atnauthor',
  'mmathPr',
  'fontemb',
])

/** Optional destinations whose content is text all the same: that of drawings, notes and comments. */
export const SHOWN_OPTIONS = new Set(['shpinst', 'shptxt', 'footnote', 'annotation'])

/** Control words that stand for characters. */
export const WORDS: Readonly<Record<string, string>> = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  nestrow: '\n',
  tab: '\t',
  cell: '\t',
  nestcell: '\t',
  emdash: '—',
  endash: '–',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
}

/** Control symbols that stand for characters. A line end after a backslash ends the paragraph. */
export const SYMBOLS: Readonly<Record<string, string>> = {
  '\\': '\\',
  '{': '{',
  '}': '}',
  '~': ' ',
  _: '-',
  '\r': '\n',
  '\n': '\n',
}
