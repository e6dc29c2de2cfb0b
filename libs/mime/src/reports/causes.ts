/**
 * What servers write about why they did not deliver, in the languages in which they write it. Every pattern looks at a
 * bounded number of characters from where it begins, so that hostile texts cost no more than honest ones.
 */

const FULL =
  /\b(?:over ?(?:(?:the|its|allowed|size|disk|storage) ){0,3}quota|quota (?:(?:is |has been )?exceeded|violation)|exceed(?:s|ed|ing)? (?:(?:the|its|their) )?(?:mailbox )?quota|exceeded (?:its |the )?(?:storage|quota)|(?:mailbox|inbox|account|mail ?folder) (?:is |size )?(?:full|limit exceeded|exceeds)|full mailbox|mailbox size limit|mailbox[^.\n]{0,30} exceeded the)\b/i
const FULL_ELSEWHERE =
  /(?:postfach|speicherplatz|kontingent)[^.\n]{0,40}(?:voll\b|überschritten|erschöpft)|bo[iî]te[^.\n]{0,40}pleine|quota (?:dépassé|superata|excedida)|(?:buzón|bandeja)[^.\n]{0,40}llen[oa]|casella[^.\n]{0,40}piena|caixa[^.\n]{0,40}cheia|(?:mailbox|postvak)[^.\n]{0,20}\bvol\b|skrzynka[^.\n]{0,40}(?:przepełniona|pełna)|schránka[^.\n]{0,40}pln[áa]|postafiók[^.\n]{0,40}(?:megtelt|tele)|kutusu[^.\n]{0,20}dolu|(?:ящик|скринька)[^.\n]{0,40}(?:переполнен|переповнен)|(?:メールボックス|容量)[^。\n]{0,20}(?:いっぱい|一杯|超え|超過)|(?:邮箱|郵箱|信箱|空间|空間)[^。\n]{0,10}满|(?:邮箱|郵箱|信箱|空間)[^。\n]{0,10}滿|메일함[^.\n]{0,20}(?:초과|가득)/i

const TOO_LARGE =
  /\b(?:message|mail|size)(?: size)? (?:is )?(?:too (?:big|large)|limit exceeded|(?:exceeds|(?:has )?exceeded) (?:the |my )?(?:fixed |databytes )?(?:maximum|size|limit))|nachricht[^.\n]{0,20}zu groß|message trop volumineux|demasiado grande|troppo grande|muito grande|слишком большо|邮件过大|サイズが大きすぎ/i

const REFUSED: readonly RegExp[] = [
  /\b(?:block ?list(?:ed)?|blacklist(?:ed)?|black list|[a-z]{0,20}rbl|dnsbl|spamhaus|spamcop|barracuda|(?<!not )listed (?:at|by|in|on)|(?:bad|low|poor) reputation|banned)\b/i,
  /\b(?:spf|dkim|dmarc|(?:not |un)authenticated|authentication (?:is )?(?:required|failed)|reverse dns|ptr record)\b/i,
  /\b(?:relay(?:ing)? (?:access )?(?:is )?(?:denied|not (?:allowed|permitted))|relaying|(?:unable|not (?:allowed|permitted)) to relay|allowed rcpthosts)\b/i,
  /\b(?:rate[- ]?limit(?:ed|s)?|too many (?:messages|mails|e-?mails|connections|recipients)|throttl(?:ed|ing)|max(?:imum)? (?:number of )?e-?mails per|(?:sending|message|daily) (?:quota|limit)[^.\n]{0,20}(?:exceeded|reached)|reached a limit for sending)\b/i,
  /\b(?:sender (?:address|domain|verif\w{1,12})|spam|content (?:is )?(?:rejected|refused|denied|filter)|polic(?:y|ies)|too many hops|mail loop|message (?:is )?looping|(?<!(?:account|mailbox|user)(?: is| has been)? )blocked|permission to (?:post|send)|not (?:allowed|permitted|authorized) to (?:post|send)|not accept messages from|prohibited)\b/i,
  /垃圾|спам|スパム|迷惑メール|스팸|pourriel|correo no deseado/i,
]

/** The server never got through, or not to the end: nothing is known of the address. */
const GIVEN_UP =
  /\b(?:retry time(?:out)? exceeded|timed? ?out|connection refused|in the queue too long|(?:message|envelope|delivery) (?:has )?expired|could not be delivered for \d|after (?:multiple|several|\d{1,4}) (?:retries|attempts)|failed \d{1,4} attempts|tried all mxs|did not accept our requests to connect|not (?:responding|reachable)|(?:please |, )try again)\b/i

const NOBODY =
  /\b(?:no such (?:user|mailbox|recipient|address|account|person|domain)|(?:unknown|invalid|illegal|non-?existent) (?:or \w{1,10} )?(?:local[ -]?part|local )?(?:e-?mail )?(?:user|mailbox|recipient|address|account|alias|hosts?|domain)|unknown local-part|(?:user|mailbox|recipient|address|account|alias|domain|host|name)\b[^.;,\n]{0,60}(?:\bunknown|\bnot found|\bnot exist|n't (?:exist|be found)|\bnot (?:be )?(?:recognized|found|listed in)|\bno longer (?:exists|valid|available))|(?:user|recipient|mailbox) (?:is )?invalid|unrouteable (?:mail domain|address)|no (?:mailbox here|mx (?:or|found)|mail exchangers)|(?:find|have) any (?:host|mail exchanger) named|do(?:es)?n['’]t have an? [^\n]{0,60}account|host unknown|user not known|invalid final delivery userid|addressee unknown|no user by that name)\b/i

const NOBODY_ELSEWHERE: readonly RegExp[] = [
  /(?:benutzer|empfänger|adresse|postfach|konto)[^.\n]{0,60}(?:unbekannt|existiert nicht|nicht (?:gefunden|vorhanden|[^.\n]{0,30}aufgelistet))|unbekannter (?:benutzer|empfänger)/i,
  /(?:utilisateur|destinataire|adresse|compte|bo[iî]te)[^.\n]{0,60}(?:inconnu|n['’]existe pas|introuvable|inexistant|n['’]est pas répertorié)/i,
  /(?:usuario|destinatario|dirección|cuenta|buzón)[^.\n]{0,60}(?:desconocid|no existe|no encontrad|inexistente)|no se ha encontrado la dirección/i,
  /(?:utente|destinatario|indirizzo|casella)[^.\n]{0,60}(?:sconosciut|non esiste|inesistente|non (?:è stat[oa] )?trovat)/i,
  /(?:usuário|utilizador|destinatário|endereço|conta|caixa)[^.\n]{0,60}(?:desconhecid|não existe|inexistente|não (?:foi )?encontrad)/i,
  /onbekende (?:gebruiker|ontvanger)|(?:gebruiker|ontvanger|e-mailadres)[^.\n]{0,40}(?:onbekend|bestaat niet|niet gevonden)/i,
  /nie ma takiego (?:użytkownika|adresu)|(?:użytkownik|adres|skrzynka|odbiorca)[^.\n]{0,40}(?:nie istnieje|nieznan|nie (?:został )?znalezion)/i,
  /(?:uživatel|adresa|schránka)[^.\n]{0,40}(?:neexistuje|nenalezen|neznám|nebyla nalezena)/i,
  /(?:okänd|ukendt|ukjent) (?:användare|mottagare|bruger|modtager|bruker|mottaker)|(?:användare|mottagare|adress|bruger|modtager|bruker)[^.\n]{0,40}(?:finns inte|hittades inte|findes ikke|finnes ikke)/i,
  /tuntematon (?:käyttäjä|vastaanottaja)|ismeretlen (?:felhasználó|címzett)|(?:felhasználó|címzett)[^.\n]{0,40}nem létezik|utilizator[^.\n]{0,40}(?:inexistent|necunoscut|nu există)/i,
  /böyle bir (?:kullanıcı|adres)[^.\n]{0,20}yok|(?:kullanıcı|adres|alıcı)[^.\n]{0,40}(?:bulunamadı|bilinmiyor|mevcut değil)|(?:pengguna|alamat|penerima)[^.\n]{0,40}tidak (?:dikenal|ditemukan|ada)/i,
  /(?:địa chỉ|người nhận|người dùng)[^.\n]{0,40}không tồn tại|không tìm thấy (?:địa chỉ|người)/i,
  /(?:пользовател|получател|адрес|ящик|абонент|користувач|скринь|потребител)[^.\n]{0,60}(?:не существует|не найден|неизвест|не існує|не знайден|невідом|не съществува)|няма такъв (?:потребител|адрес)/i,
  /(?:χρήστης|παραλήπτης|διεύθυνση)[^.\n]{0,40}(?:άγνωστ|δεν υπάρχει|δεν βρέθηκε)|(?:משתמש|נמען|כתובת)[^.\n]{0,40}(?:לא קיי|לא נמצא|לא ידוע)|(?:المستخدم|العنوان|المستلم)[^.\n]{0,40}(?:غير موجود|غير معروف)|لم يتم العثور على العنوان|ไม่พบ(?:ที่อยู่|ผู้ใช้|ผู้รับ)/i,
  /(?:ユーザー?|宛先|あて先|アドレス|受信者|メールボックス)[^。\n]{0,30}(?:存在しません|見つかりません|見つからない|不明)/,
  /(?:帐号|账号|账户|用户|收件人|邮箱|地址|帳號|使用者)[^。\n]{0,20}不存在|找不到(?:收件人|您输入|用户|地址)/,
  /존재하지 않는|(?:사용자|수신자|주소|계정)[^.\n]{0,20}(?:없습니다|없음|존재하지|찾을 수 없)/,
]

/** The server does not know either, and says what it may have been. */
const GUESSED =
  /\b(?:(?:may|might|could) (?:not |no longer )?(?:exist|be (?:in(?:valid|correct)|wrong|unknown|misspelled|unavailable))|(?:possible|likely|common) (?:reasons|causes)|mögliche (?:gründe|ursachen)|causes possibles|posibles causas|possibili cause)|возможные причины|可能的?原因/i

/** The causes that the words of a report name. `nobody` counts only if no code and no other cause is given. */
export interface Causes {
  readonly full: boolean
  readonly tooLarge: boolean
  readonly refused: boolean
  readonly givenUp: boolean
  readonly nobody: boolean
}

export function causesIn(text: string): Causes {
  // Addresses are no words: `spam@` may be the one that is unknown.
  const prose = text.replace(/[^\s@]{1,254}@[^\s@.]{1,254}(?:\.[^\s@.]{1,63}){0,10}/g, ' ')
  return {
    full: FULL.test(prose) || FULL_ELSEWHERE.test(prose),
    tooLarge: TOO_LARGE.test(prose),
    refused: REFUSED.some((words) => words.test(prose)),
    givenUp: GIVEN_UP.test(prose),
    nobody: !GUESSED.test(prose) && [NOBODY, ...NOBODY_ELSEWHERE].some((words) => words.test(prose)),
  }
}
