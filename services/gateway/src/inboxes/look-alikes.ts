/**
 * Characters that look like ASCII letters and digits, by what they look like: the part of the Unicode Consortium's
 * confusables (UTS 39, Unicode 15.1; Unicode License V3, see NOTICE) that reaches ASCII and that compatibility
 * decomposition, removal of marks and lower case do not reach by themselves.
 */
const LOOK_ALIKES: readonly (readonly [ascii: string, characters: string])[] = [
  ['2', 'ƧƻϨᒿꙄꛯꝚ'],
  ['3', 'ƷȜЗҘӠⳌꝪꞫ𑣊𖼻𝈆'],
  ['4', 'Ꮞ𑢯'],
  ['5', 'Ƽ𑢻'],
  ['6', 'бᏮⳒ𑣕'],
  ['7', '𐓒𑣆𝈒'],
  ['8', 'Ȣȣ৪੪𐌚'],
  ['9', '৭੧୨൭ⳊꝮ𑢬𑣌𑣖'],
  ['a', 'ɑΑαАаᎪᗅ⍶⍺ꓮ𐊠𖽀𝚨𝛂𝛢𝛼𝜜𝜶𝝖𝝰𝞐𝞪'],
  ['ae', 'ÆæӔӕ'],
  ['b', 'ƀƂƃƄɓΒБВЬѢѣҌҍᏏᏴᑲᑳᖯᗷꓐꞴ𐊂𐊡𐌁𝚩𝛣𝜝𝝗𝞑'],
  ['c', '¢ȼϲϹСсҪҫᏟᴄ₡Ⲥⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲🅮🝌'],
  ['d', 'ÐĐđƉƌɖɗԁᎠᏧᑯᗞᗪ₫ꓒꓓ'],
  ['e', 'ɆɇΕЕеҽҿᎬ℮⋿ⴹꓰꬲ𐊆𑢦𑢮𝚬𝛦𝜠𝝚𝞔'],
  ['f', 'ƑƒϜքᖴᵮẝꓝꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂𝈓𝟊'],
  ['g', 'ƍǤǥɠɡԌցᏀᏳᶃꓖ'],
  ['h', 'ĦħɦΗНћҢһӇӉհᎻᏂᏲᕼℏⱧⲎꓧꚕ𐋏𝚮𝛨𝜢𝝜𝞖'],
  ['j', 'ɈɉͿϳЈјᎫᒍꓙꞲ'],
  ['k', 'ƙΚКҚҞᏦᛕ₭ⱩⲔꓗꝀ𐔘𝚱𝛫𝜥𝝟𝞙'],
  ['l', 'ıŁłƖƗƚǀɨɩɪɫɭΙιІіӀӏ۱ᎥᏞᒪᛁᵻᵼι∣⍳⍸⏽ⲒⳐⵏꓡꓲꙇꭵ￨𐊊𐌉𐌠𐐛𐔦𑢣𑢲𑣃𖼖𖼨𝈪𝚤𝚰𝛊𝛪𝜄𝜤𝜾𝝞𝝸𝞘𝞲'],
  ['m', 'ΜϺМӍᎷᗰᛖⲘꓟ𐊰𐌑𝚳𝛭𝜧𝝡𝞛'],
  ['n', 'ƝƞɳΝηոռᵰⲚꓠ𐆎𐔓𝚴𝛈𝛮𝜂𝜨𝜼𝝢𝝶𝞜𝞰'],
  ['o', 'ØøƟǾɵΘΟθοσϑϴОоѲѳӨөՕօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐တဝ၀ჿዐᎾᏫᴏᴑ⊖⊝⍬Ⲟⲟⴱⵁⵔ〇ꓳꝊꝋꬽꬾꭴꮎꮻ'],
  ['o', '𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠𝈚𝚯𝚶𝚹𝛉𝛐𝛔𝛝𝛩𝛰𝛳𝜃𝜊𝜎𝜗𝜣𝜪𝜭𝜽𝝄𝝈𝝑𝝝𝝤𝝧𝝷𝝾𝞂𝞋𝞗𝞞𝞡𝞱𝞸𝞼𝟅🜔'],
  ['oe', 'Œœ'],
  ['p', 'ƥΡρϱРрᏢᑭᵽ⍴Ⲣⲣꓑ𐊕𝚸𝛒𝛠𝛲𝜌𝜚𝜬𝝆𝝔𝝦𝞀𝞎𝞠𝞺𝟈'],
  ['q', 'ʠԛգզⵕ'],
  ['r', 'ƦɍɼɽгғᎡᏒᖇᴦᵲⲅꓣꭇꭈꮁ𐒴𖼵𝈖'],
  ['rn', 'ɱᵯ₥𑜀𑣣'],
  ['s', 'ƽʂЅѕՏᏕᏚᵴꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺'],
  ['t', 'ŦŧƭƮȾΤТҬᎢᵵ₮⊤⍡⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊𝚻𝛵𝜯𝝩𝞣🝨'],
  ['u', 'ɄʋυՍսሀᏌᑌᴜᵾ∪⋃ꓴꞟꭎꭒꮜ𐓎𐓶𑢸𑣘𖽂𝛖𝜐𝝊𝞄𝞾'],
  ['v', 'νѴѵ۷Ꮩᐯᴠ∨⋁ⴸꓦꛟꮩ𐆗𐔝𑜆𑢠𑣀𖼈𝈍𝛎𝜈𝝂𝝼𝞶🜈'],
  ['w', 'ɯѡѽԜԝաᎳᏔᴡ₩ꓪꝡꮃ𑓅𑜊𑜎𑜏𑣦𑣯'],
  ['x', '×ΧХхҲᕁᕽ᙭᙮ᚷ╳⤫⤬⨯⨰ⲬⵝꓫꞳ𐆖𐊐𐊴𐌗𐌢𐔧𑣬𝚾𝛸𝜲𝝬𝞦'],
  ['y', '¥ƴɎɏɣʏΥγϒУуҮүҰұყᎩᎽᶌỿℽⲨꓬꭚ𐊲𑢤𑣜𖽃𝚼𝛄𝛶𝛾𝜰𝜸𝝪𝝲𝞤𝞬'],
  ['z', 'ƵƶȤȥʐΖᏃᴢᵶꓜꮓ𐋵𑢩𑣄𑣥𝚭𝛧𝜡𝝛𝞕'],
]

const ASCII_OF: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKES.flatMap(([ascii, characters]) => Array.from(characters, (character) => [character, ascii] as const)),
)

/** ASCII characters, and pairs of them, that a quick reader does not tell apart. */
const ALIKE: readonly (readonly [from: RegExp, to: string])[] = [
  [/[i1|]/g, 'l'],
  [/0/g, 'o'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
]

/**
 * Whether one name may be taken for another by a reader: compatibility forms, marks, letter case and look-alikes are
 * folded; spaces, punctuation and invisible characters are left out. A name of which nothing is left then is compared as
 * it stands. Pure.
 */
export function looksLike(name: string, other: string): boolean {
  // A capital may look like another letter than its small form does, so both ways of reading it count.
  const readings = [(text: string) => text, (text: string) => text.toLowerCase()]
  return readings.some((reading) => {
    const look = lookOf(reading(other))
    return look === '' ? name.trim() === other.trim() : lookOf(reading(name)) === look
  })
}

function lookOf(name: string): string {
  const small = toAscii(withoutMarks(name)).toLowerCase()
  const ascii = ALIKE.reduce((text, [from, to]) => text.replace(from, to), toAscii(withoutMarks(small)))
  return ascii.replace(/[^\p{L}\p{N}]/gu, '')
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '')
}

function toAscii(text: string): string {
  return Array.from(text, (character) => ASCII_OF.get(character) ?? character).join('')
}
