/**
 * Characters that look like ASCII letters and digits, grouped by these: the part of the Unicode Consortium's
 * confusables (UTS 39, Unicode 15.1; Unicode License V3, see NOTICE) that maps to ASCII and that compatibility
 * decomposition, removal of marks and lower case do not cover, plus characters that readers confuse beyond it.
 */
export const LOOK_ALIKES: readonly (readonly [ascii: string, characters: string])[] = [
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
  ['l', 'ıŁłƖƗƚǀɨɩɪɫɭΙιІіӀӏ۱ᎥᏞᒪᛁᵻᵼι∣⍳⍸⏽ⲒⳐⵏꓡꓲꙇꭵ│𐊊𐌉𐌠𐐛𐔦𑢣𑢲𑣃𖼖𖼨𝈪𝚤𝚰𝛊𝛪𝜄𝜤𝜾𝝞𝝸𝞘𝞲'],
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
  // Beyond UTS 39, which distinguishes letters that a reader of a name confuses: small capitals, turned, hooked and
  // barred letters, the letters of other scripts used for "fancy text", and what UTS 39 maps to one of these.
  ['2', 'ᴤ'],
  ['3', 'ჳ'],
  ['a', 'ɐΔΛДծคดตᐃᕷᗄᗩᴀᶏẟ∀∆ⱥⲆⲖⵠ卂ꓯ𐊅𐊣𐓛𖼚'],
  ['b', 'ßʙЪЫ฿๒Ᏸᴃᵬᶀ乃ꞗ'],
  ['c', 'ƈɕͽςϛԑᑕↄ⊂ⲉ匚ꜿꞓꞔꮛ𐐩'],
  ['d', 'ȡ๔ᴅᵭᶁᶑ∂ꝺꟈ'],
  ['e', 'ƎƩɘəɛɜɝɞʚΞΣэєәᕮᗴᴇᴈᶒᶓᶔ€∃∑ⱸⱻⴺⵉ乇ꓱꞝꬳꬴꭍ𐐪𐑂𖼭'],
  ['f', 'ʄᶂ千ꜰꝼ'],
  ['g', 'ɢʛᎶᘜᵷᵹꝿꞡꟑꬶ𝼁𝼂'],
  ['h', 'ʜͰђᎨⱶⴙ卄ꚱꜧꞕꟶꮀ𐓍'],
  ['j', 'ȷɟյןᴊ'],
  ['k', 'ĸʞᴋᶄꝃꝅꞣ𝼃𝼐'],
  ['l', 'ȴɬʟเᅵᣳᴉᴌᶅᶖⱡㄥ丨ꝉꞁꞎꬷꬸꬹ𝼄𝼑𝼓𝼚'],
  ['m', 'ɰʍպ๓ሣጣᴍᴟᶆ爪ꟺꬺꭑ'],
  ['n', 'ŋȵɴͷΠИПภฦበቡᑎហᴎᴨᶇ∩⋂Ⲡ几ꓵꚡꛛꞑꞥꬻ𐑍'],
  ['o', 'ɔͻΩ๏ᘯᘵᛜᴐᴒᴓᶗⱺㄖꓛꝍꬿ𐊔𐊶𐑋𝼛'],
  ['p', 'þƿϸקᣖᴘᴩᵱᶈ卩ꝑꝓꝕ𐓄'],
  ['q', 'ɋᶐꝗꝙꞯ'],
  ['r', 'ɹɺɻɾɿʁΓЯᒥᣴᴙᴚᵳᶉⱹ尺ꞃꞧꭅꭆꭉꭋꭌꭨ𖼇𝼈𝼕𝼖'],
  ['s', '§ȿรᔕᣛᣵᶊẜ丂ꞅꞩꟊ𝼞'],
  ['t', 'ƫȶʇՇႠᎿᖶᴛ†‡ㄒꓕꞇ𝼉𝼍'],
  ['u', 'μцยຍᴝᶙㄩꓤꞹ'],
  ['v', 'ʌЛשᐱᣔᴧᴫ√ⱱⱴⴷꓥꛎꝟ𐊍𐓘𖼽'],
  ['w', 'ΨωШЩѱฬᏇᏯᗯᛘⱳⲮⲱⲽ山ꙍꞷ𐊵𐓹'],
  ['x', 'Жאᶍ乂ꭕꭖꭗꭘꭙ'],
  ['y', 'ʎЧץㄚ𝼆'],
  ['z', 'ɀʑչᘔᙆᶎⱬ乙ꝣ'],
]

/**
 * First characters of alphabets of enclosed capitals without a compatibility form: negative circled, negative squared,
 * regional.
 */
const ENCLOSED_ALPHABETS: readonly number[] = [0x1f150, 0x1f170, 0x1f1e6]
const ENCLOSED = ENCLOSED_ALPHABETS.flatMap((first) =>
  Array.from('abcdefghijklmnopqrstuvwxyz', (ascii, place) => [String.fromCodePoint(first + place), ascii] as const),
)

const ASCII_OF: ReadonlyMap<string, string> = new Map([
  ...LOOK_ALIKES.flatMap(([ascii, characters]) => Array.from(characters, (character) => [character, ascii] as const)),
  ...ENCLOSED,
])

/** Signs that follow a name without being part of it, although some have letters as their compatibility form. */
const NAME_SIGNS = /[™℠®©℗\u{1f16a}-\u{1f16c}]|ᵀᴹ|ˢᴹ|\((?:tm|sm|r|c)\)/giu
/** Signs that may represent a letter or decorate a name. */
const AMBIGUOUS_SIGNS = /[\p{Sm}\p{Sc}†‡§]/gu

/** ASCII characters, and pairs of them, that a quick reader does not distinguish. */
const ALIKE: readonly (readonly [from: RegExp, to: string])[] = [
  [/[i1|]/g, 'l'],
  [/0/g, 'o'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
]

/**
 * Whether a reader may take one name for another: compatibility forms, marks, letter case and look-alikes are folded;
 * spaces, signs, punctuation and invisible characters are ignored. A name of which nothing is left then is compared
 * unchanged. Pure.
 */
export function looksLike(name: string, other: string): boolean {
  return READINGS.some((reading) => {
    const look = lookOf(reading(other))
    return look === '' ? name.trim() === other.trim() : lookOf(reading(name)) === look
  })
}

// A capital may look like another letter than its lower case does, and a sign like a letter or like nothing: each
// reading counts.
const READINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.replace(AMBIGUOUS_SIGNS, ''),
  (text) => text.replace(AMBIGUOUS_SIGNS, '').toLowerCase(),
]

function lookOf(name: string): string {
  const small = toAscii(withoutMarks(name.replace(NAME_SIGNS, ''))).toLowerCase()
  // Separators are removed before pairs of letters are compared; "|" is read as a letter.
  const letters = toAscii(withoutMarks(small)).replace(/[^\p{L}\p{N}|]/gu, '')
  return ALIKE.reduce((text, [from, to]) => text.replace(from, to), letters)
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '')
}

/**
 * A letter without a look-alike of its own is read as its other case, which covers most small capitals of other
 * scripts.
 */
function toAscii(text: string): string {
  return Array.from(text, (character) => {
    const look =
      ASCII_OF.get(character) ?? ASCII_OF.get(character.toUpperCase()) ?? ASCII_OF.get(character.toLowerCase())
    return look ?? character
  }).join('')
}
