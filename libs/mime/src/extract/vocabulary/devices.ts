import { anyOf, anyWordOf, wordsOf } from './match.ts'

/** Products that take the endings of a language: `iPhonesta`, `iPhone'umdan`. */
const INFLECTED =
  'iphone|iphon|ipad|ipod|samsung|galaxy|android|outlook|huawei|xiaomi|windows|nokia|айфон|андроид|яндекс|yandex|proton'

const PRODUCTS =
  'apple watch|bt email|bt|talktalk|macbook|imac|mac|redmi|oppo|oneplus|realme|vivo|google pixel|pixel|lumia|sony|xperia|htc|motorola|alcatel|zte|tcl|droid|metropcs|us cellular|u.s. cellular|xfinity mobile|lg|blackberry|hotmail|gmail|google mail|yahoo|aol|icloud|protonmail|tuta|tutanota|spark|spike|shortwave|mimestream|airmail|mailspring|thunderbird|k-9|k9|fairemail|bluemail|blue mail|mymail|mail.ru|почты mail|почта mail|rambler|zoho|fastmail|hey|superhuman|missive|edison|canary|newton|typeapp|nine|aqua mail|aquamail|boxer|workspace one|polymail|em client|postbox|mailbird|mailbox|gmx|web.de|t-online|telekom|freenet|orange|sfr|bouygues|laposte|libero|virgilio|tiscali|onet|interia|wp|o2|seznam|foxmail|qq|163|naver|daum|kakao|verizon|t-mobile|at&t|sprint|vodafone|movistar|claro|telcel|telstra|optus|rogers|xfinity|hushmail|mailfence|posteo|tapatalk|lte|4g|5g|ios|ipados|surface|chromebook|kindle|treo|fairphone|qq邮箱|网易邮箱|网易|华为|小米|三星|삼성|魅族|荣耀|苹果|アイフォン|아이폰|안드로이드|갤럭시|네이버'

/** Words between a product's name and its number. */
const MODELS =
  'pro|max|plus|ultra|mini|edge|note|tab|lite|air|neo|fold|flip|prime|duos|se|dual|sim|xs|xr|fe|ace|mate|nova|core'

const LETTERS = '\\p{Script=Latin}\\p{Script=Cyrillic}'
const PRODUCT = new RegExp(
  `(?<![${LETTERS}\\p{N}])(?:(?:${INFLECTED})(?:['-]?[${LETTERS}]{1,10})?|${anyOf(PRODUCTS.split('|'))})(?![${LETTERS}])`,
  'gu',
)
const DEVICE = new RegExp(anyWordOf(wordsOf('device')), 'gu')
const SIGNED = anyWordOf(wordsOf('signed'))
const SIGNED_FIRST = new RegExp(`^[^\\p{L}\\p{N}]{0,5}${SIGNED}`, 'u')
const SIGNED_LAST = new RegExp(`${SIGNED}[^\\p{L}\\p{N}]{0,5}$`, 'u')
const WITH = new RegExp(anyWordOf([...wordsOf('signedWith', 'signed'), ...MODELS.split('|')]), 'gu')
const LINK = /[<([]{0,2}(?:https?:\/\/|www\.)[^\s<>()[\]]{0,300}[>)\]]{0,2}/g
/** A word that is not part of a number such as `S21`. */
const WORD = /(?<![\p{L}\p{N}])\p{L}{2,}(?![\p{L}\p{N}])/u

/** Lines that products write without saying that they sent anything. */
const ADVERTISEMENTS = new Set(['yahoo mail: search, organize, conquer'])

const MAX_LENGTH = 200

/**
 * Whether a folded line is nothing but the signature of a device or product: `Sent from my iPhone`. A line that holds
 * any other word is what somebody wrote.
 */
export function isDeviceSignature(folded: string): boolean {
  if (folded.length > MAX_LENGTH) return false
  const line = folded.replace(LINK, ' ').replace(/[[\]]/g, ' ').trim()
  if (ADVERTISEMENTS.has(line)) return true
  const rest = line.replace(SIGNED_FIRST, ' ').replace(SIGNED_LAST, ' ')
  if (rest === line) return false
  const unnamed = rest.replace(PRODUCT, ' ').replace(DEVICE, ' ')
  return unnamed !== rest && !WORD.test(unnamed.replace(WITH, ' '))
}
