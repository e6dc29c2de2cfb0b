/**
 * The lines by which mail clients announce what they quote, in the languages they ship in. All patterns are anchored
 * or applied to a bounded tail, so none of them can backtrack over a long line.
 */

const either = (...words: string[]): string => `(?:${words.join('|')})`

const FORWARD_WORDS = either(
  'forwarded (?:message|by)',
  'weitergeleitete nachricht',
  'message (?:transféré|réexpédié)',
  'mensaje reenviado',
  'mensagem (?:encaminhada|reencaminhada)',
  'messaggio inoltrato',
  'doorgestuurd bericht',
  'videresendt meddelelse',
  'videresendt melding',
  'vidarebefordrat meddelande',
  'przekazana wiadomość',
  'wiadomość przekazana dalej',
  'пересылаемое сообщение',
  'перенаправленное сообщение',
  'iletilen ileti',
  'přeposlaná zpráva',
  'továbbított üzenet',
  'välitetty viesti',
  '转发的邮件',
  '转发邮件',
  '転送メッセージ',
  '전달된 메일',
)
const FORWARD_DASHED = new RegExp(`^\\s*-{2,}\\s*${FORWARD_WORDS}`, 'iu')
const FORWARD_APPLE = new RegExp(
  `^\\s*${either(
    'begin forwarded message',
    'anfang der weitergeleiteten (?:nachricht|e-mail)',
    'début du message (?:réexpédié|transféré)',
    'inicio del mensaje reenviado',
    'início da mensagem (?:encaminhada|reencaminhada)',
    'inizio messaggio inoltrato',
    'begin doorgestuurd bericht',
    'start på videresendt besked',
    'vidarebefordrat brev',
    'начало переадресованного сообщения',
    '转发的邮件',
    '転送されたメッセージ',
  )}\\s*[:：]`,
  'iu',
)

const ORIGINAL = new RegExp(
  `^\\s*-{2,}\\s*${either(
    'original message',
    'original appointment',
    'reply message',
    'ursprüngliche nachricht',
    'originalnachricht',
    "message d['’]origine",
    'message original',
    'mensaje original',
    'mensagem original',
    'messaggio originale',
    'oorspronkelijk bericht',
    'oprindelig meddelelse',
    'opprinnelig melding',
    'ursprungligt meddelande',
    'alkuperäinen viesti',
    'pierwotna wiadomość',
    'oryginalna wiadomość',
    'původní zpráva',
    'eredeti üzenet',
    'исходное сообщение',
    'orijinal ileti',
    '原始邮件',
    '邮件原件',
    '元のメッセージ',
    '원본 메시지',
  )}`,
  'iu',
)

const label = (...words: string[]): RegExp => new RegExp(`^\\s*\\*{0,2}${either(...words)}\\s?\\*{0,2}\\s?[:：]`, 'iu')
const FROM = label(
  'from',
  'von',
  'de',
  'da',
  'van',
  'fra',
  'från',
  'lähettäjä',
  'od',
  'feladó',
  'от',
  'kimden',
  '发件人',
  '差出人',
  '보낸 사람',
)
const SENT = label(
  'sent',
  'date',
  'gesendet',
  'datum',
  'envoyé',
  'enviado(?: el| em)?',
  'fecha',
  'data',
  'inviato',
  'verzonden',
  'sendt',
  'dato',
  'skickat',
  'lähetetty',
  'wysłano',
  'odesláno',
  'elküldve',
  'отправлено',
  'дата',
  'gönderildi',
  'tarih',
  '发送时间',
  '日期',
  '送信日時',
  '日付',
  '보낸 날짜',
)
const TO = label(
  'to',
  'cc',
  'an',
  'à',
  'para',
  'a',
  'aan',
  'til',
  'till',
  'kopie',
  'vastaanottaja',
  'do',
  'komu',
  'címzett',
  'кому',
  'kime',
  '收件人',
  '抄送',
  '宛先',
  '받는 사람',
)
const SUBJECT = label(
  'subject',
  'betreff',
  'objet',
  'asunto',
  'assunto',
  'oggetto',
  'onderwerp',
  'emne',
  'ämne',
  'aihe',
  'temat',
  'předmět',
  'tárgy',
  'тема',
  'konu',
  '主题',
  '件名',
  '제목',
)

const OPENER = /^\s*(?:on|am|le|el|em|il|op|den|på|pada|vào|w dniu|dnia|dne|la|στις|în data)\s+\S/iu
/** `On ... wrote:` and similar, where the verb ends the line. */
const VERB_LAST =
  /(?:wrote|writes|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|skreiv|pisze|napisał(?:\(-?a\)|a)?|пишет|написал(?:\(а\)|а)?|пише|kirjoitti|napsal(?:\(a\)|a)?|napísal(?:\(a\)|a)?|yazdı|έγραψε|a scris|đã viết|menulis|のメール|が書きました|写道|寫道|님이 작성|כתב(?:\/ה|ה)?|كتب)\s*[:：]$/iu
/** The same where the name follows the verb. */
const VERB_WITHIN =
  /\s(?:schrieb|schreef|skrev|skreiv|ezt írta|napsal|a écrit|escribió)\s[^:]{0,300}(?:\([^()]{0,80}\))?\s*:$/iu
/** An address followed only by a colon: an attribution when a date precedes it. */
const ADDRESS_LAST = /<[^<>\s@]{1,80}@[^<>\s@]{1,200}>\s*[:：]$/u
/** Yahoo puts the first quoted words on the attribution's own line. */
const VERB_AND_MORE = /@[^\s<>@]{1,200}> (?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto)\s?:/iu
const DATE_LIKE = /\d{1,2}[:.h]\d{2}|\b(?:19|20)\d\d\b|(?:19|20)\d\d[年년]/u

const CLIENT_SIGNATURE = new RegExp(
  `^\\s*${either(
    'sent (?:from|via|with|using) ',
    'get outlook for ',
    'von mein\\S+ .{1,40}gesendet',
    'gesendet (?:von|mit) ',
    'envoyé (?:de|depuis|avec|à partir d)',
    'télécharger outlook pour',
    'enviado (?:desde|do|de|por) ',
    'obtener outlook para',
    'inviato da',
    'verstuurd vanaf ',
    'verzonden (?:vanaf|met) ',
    'sendt fra ',
    'skickat från ',
    'lähetetty ',
    'wysłan[eo] z ',
    'odesláno z ',
    'отправлено (?:с|из) ',
    'gönderildi: ',
    '发自我的',
    '從我的',
    '.{0,20}(?:iPhone|iPad)から送信',
    '나의 .{1,20}에서 보냄',
  )}`,
  'iu',
)

const MAX_LINE = 1_000
const MAX_SIGNATURE_LINE = 100
const MAX_WRAPPED = 4

/**
 * Confidence of an attribution: a `certain` one names a date or an address, a `likely` one counts only before quoted
 * lines.
 */
export type Attribution = 'certain' | 'likely'

export function isQuoted(line: string): boolean {
  return /^\s{0,3}>/.test(line)
}

export function isForwardMark(line: string): boolean {
  const start = line.slice(0, 200)
  return FORWARD_DASHED.test(start) || FORWARD_APPLE.test(start)
}

/** `Sent from my phone` and similar, when it is a whole short line. */
export function isClientSignature(line: string): boolean {
  return line.length <= MAX_SIGNATURE_LINE && CLIENT_SIGNATURE.test(line)
}

/**
 * Whether everything from this line on is an earlier message: `-----Original Message-----`, a rule and `From:`, a
 * header block.
 */
export function isHistoryMark(lines: readonly string[], at: number): boolean {
  const line = (lines[at] ?? '').slice(0, 200)
  if (ORIGINAL.test(line)) return true
  if (/^\s*_{5,}\s*$/.test(line)) {
    const next = lines[at + 1]?.trim() === '' ? lines[at + 2] : lines[at + 1]
    const header = (next ?? '').slice(0, 200)
    return FROM.test(header) || SENT.test(header)
  }
  return FROM.test(line) && isHeaderBlock(lines, at)
}

/**
 * An attribution that begins on this line, wrapped over at most four lines: its number of lines, and its confidence.
 */
export function attributionAt(lines: readonly string[], at: number): { length: number; kind: Attribution } | undefined {
  const line = lines[at] ?? ''
  if (line.length > MAX_LINE || line.trim() === '' || isQuoted(line)) return undefined
  const opens = OPENER.test(line)
  if (opens && VERB_AND_MORE.test(line)) return { length: 1, kind: 'certain' }
  let joined = ''
  for (let length = 1; length <= MAX_WRAPPED; length++) {
    const next = (lines[at + length - 1] ?? '').trim()
    if (next === '' || isQuoted(next)) return undefined
    if (length > 1 && (OPENER.test(next) || !mayWrap(joined, opens))) return undefined
    joined = joined === '' ? next : `${joined} ${next}`
    if (joined.length > MAX_LINE) return undefined
    const kind = attributionKind(joined, opens)
    if (kind !== undefined) return { length, kind }
  }
  return undefined
}

/**
 * A line that may continue in the next one as an attribution: it has an opening word or a date and ends no sentence.
 */
function mayWrap(line: string, opens: boolean): boolean {
  return !/[!?]$/.test(line) && (opens ? /\d/.test(line) : DATE_LIKE.test(line))
}

function attributionKind(line: string, opens: boolean): Attribution | undefined {
  if (!/[:：]$/.test(line)) return undefined
  const tail = line.slice(-400)
  const verb = VERB_LAST.test(line.slice(-80)) || VERB_WITHIN.test(tail)
  if (!verb) return ADDRESS_LAST.test(tail) && /\d{4}/.test(tail) ? 'likely' : undefined
  const dated = DATE_LIKE.test(line) || (/\d/.test(line) && line.includes('@'))
  return dated && (opens || line.includes('@')) ? 'certain' : 'likely'
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  const block = lines.slice(at + 1, at + 7)
  const gap = block.findIndex((line) => line.trim() === '')
  const fields = (gap < 0 ? block : block.slice(0, gap)).map((line) => line.slice(0, 200))
  const dated = fields.some((line) => SENT.test(line))
  const addressed = fields.some((line) => TO.test(line))
  const titled = fields.some((line) => SUBJECT.test(line))
  return (dated && (addressed || titled)) || (addressed && titled)
}
