/**
 * What servers write about why they did not deliver, in the languages in which they write it. Every pattern looks at a
 * bounded number of characters from where it begins, so that hostile texts cost no more than honest ones.
 */

const FULL: readonly RegExp[] = [
  /\b(?:over ?(?:(?:the|its|allowed|size|disk|storage) ){0,3}quota|(?<!(?:message|sending|sent|daily|hourly|rate) )quota (?:usage )?(?:(?:is |has been )?exceeded|violation)|(?:disk|disc|storage|mailbox) quota|exceed(?:s|ed|ing)? (?:(?:the|its|their) )?(?:mailbox )?quota|exceeded (?:its |the )?(?:storage|quota)|(?:mailbox|inbox|account|mail ?folder) (?:is |size )?(?:full|limit exceeded|exceeds)|full mailbox|mailbox size limit|mailbox[^.\n]{0,30} exceeded the|mail file size exceeds)\b/i,
  /\b(?:(?:mailbox|inbox|mail ?folder|recipient|user|account)(?:'s)?\b[^.\n]{0,40}\b(?:disk|disc|storage|space|over ?quota|too many messages (?:in|on))|(?:out of|not enough|no more|insufficient) (?:disk |mailbox |user )?(?:storage|space)|(?:space|storage) (?:is )?(?:not enough|full|has been used up))\b/i,
]
const FULL_ELSEWHERE =
  /(?:postfach|speicherplatz|kontingent)[^.\n]{0,40}(?:voll\b|überschritten|erschöpft)|bo[iî]te[^.\n]{0,40}pleine|quota (?:dépassé|superata|excedida)|(?:buzón|bandeja)[^.\n]{0,40}llen[oa]|casella[^.\n]{0,40}piena|caixa[^.\n]{0,40}cheia|(?:mailbox|postvak)[^.\n]{0,20}\bvol\b|skrzynka[^.\n]{0,40}(?:przepełniona|pełna)|schránka[^.\n]{0,40}pln[áa]|postafiók[^.\n]{0,40}(?:megtelt|tele)|kutusu[^.\n]{0,20}dolu|(?:ящик|скринька)[^.\n]{0,40}(?:переполнен|переповнен)|(?:メールボックス|容量)[^。\n]{0,20}(?:いっぱい|一杯|超え|超過)|(?:邮箱|郵箱|信箱|空间|空間)[^。\n]{0,10}满|(?:邮箱|郵箱|信箱|空間)[^。\n]{0,10}滿|메일함[^.\n]{0,20}(?:초과|가득)/i
const FULL_FURTHER =
  /(?:postilaatikko|sähköpostilaatikko)[^.\n]{0,30}täynnä|(?:postkasse|postboks|innboks|indbakke|brevlåda|inkorg)[^.\n]{0,30}full?[dt]?\b|γραμματοκιβώτιο[^.\n]{0,40}(?:γεμάτ|πλήρ)|(?:căsuța|cutia)[^.\n]{0,40}plin|תיב[^.\n]{0,30}מלא|(?:صندوق|علبة)[^.\n]{0,30}ممتلئ|kotak[^.\n]{0,30}penuh|hộp thư[^.\n]{0,30}đầy|กล่อง[^.\n]{0,30}เต็ม|(?:इनबॉक्स|मेलबॉक्स)[^.\n]{0,30}(?:भर|पूर)/i

const TOO_LARGE =
  /\b(?:(?:message|mail|size|attachment)s?(?: (?:file|length|size))? (?:is |are |was )?(?:too (?:big|large|long)|larger than|limit exceeded|(?:exceeds|(?:has )?exceeded) (?:\S{1,40} ){0,2}(?:maximum|size|limit|administrative))|max(?:imum)? (?:\w{1,20} )?message size|message size limits?)|nachricht[^.\n]{0,20}zu groß|message trop volumineux|demasiado grande|troppo grande|muito grande|слишком больш|занадто велик|zbyt duż|příliš velk|te groot|f[öo]r stor|liian suuri|túl nagy|prea mare|çok büyük|πολύ μεγάλ|邮件过大|サイズが大きすぎ/i

/** A block list, authentication, relaying or rate: the server has something against who sends, or how. */
const SENDER: readonly RegExp[] = [
  /\b(?:(?:block|black) ?list(?:ed)?|[a-z]{0,20}rbl|dnsbl|spamhaus|spamcop|barracuda|(?<!not )listed (?:at|by|in|on)|reputation|banned|user complaints|open proxy)\b/i,
  /\b(?:spf|dkim|dmarc|batv|(?:un)?authenticated|authentication)\b/i,
  /\b(?:relay(?:ing)? (?:access )?(?:is )?(?:denied|not (?:allowed|permitted)|prohibited)|relaying|mail relay|(?:unable|not (?:allowed|permitted)) to relay|allowed rcpthosts)\b/i,
  /\b(?:rate[- ]?limit(?:ed|s)?|(?:connection|sending|message|ip) (?:rate|frequency)|at a rate that|(?:unusual|unexpected) (?:rate|volume)|too (?:quickly|fast)|again slower|too many (?:(?:concurrent|simultaneous|smtp) ){0,2}(?:messages(?! (?:in|on))|mails|e-?mails|spams|connections|sessions|errors|recipients)|connection limit|trop de connexions|throttl(?:ed|ing)|max(?:imum)? (?:number of )?e-?mails per|(?:sending|message|daily) (?:quota|limit)[^.\n]{0,20}(?:exceeded|reached)|reached a limit for sending)\b/i,
  /schwarzen? liste|sperrliste|blockliste|liste noire|listas? (?:negra|de bloqueio|nera|neagră)|zwarte lijst|svart(?:a |e)?list|sort(?:e )?liste|mustalla listalla|estolista|czarnej li[śs]|černé listin|feketelist|kara liste|daftar hitam|danh sách đen/i,
  /ч[её]рн[а-яё]{1,3} спис|чорн[а-яії]{1,3} спис|μαύρη λίστα|רשימה שחורה|القائمة السوداء|บัญชีดำ|ブラックリスト|ブロックリスト|黑名单|黑名單|블랙리스트|차단 목록/i,
  /authentifi[zc]ier|authentification|autenti[cz]a(?:ci[óo]n|ção|zione)|authenticatie|autentis|autentificare|uwierzyteln|hitelesít|kimlik doğrula|аутентификац|автентифікац|送信者認証|身份验证|身份認證|발신자 인증/i,
  /(?:zu viele|trop d[e']|demasiad[oa]s|troppi|troppe|muitas|te veel|f[öo]r många|for mange|zbyt wiele|příliš mnoho|túl sok|prea multe|çok fazla) (?:\S{1,20} )?(?:nachrichten|e-?mails?|verbindungen|messages|connexions|mensajes|correos|conexiones|messaggi|connessioni|mensagens|conexões|berichten|verbindingen|meddel\S{1,10}|wiadomości|połączeń|zpráv|üzenet|mesaje|ileti)|слишком много|забагато|过于频繁|過於頻繁|频率/i,
]

/** Anything else about the sender, the way that the mail took, or what is in it. */
const REFUSED: readonly RegExp[] = [
  /\b(?:dynamic (?:ip|address)|dynamic ips|reverse (?:dns|lookup)|r?dns (?:entry|record|ptr)|ptr records?|(?:ip|host) ?name lookup|client host|find your hostname|(?:bad|invalid) (?:helo|ehlo)|(?:helo|ehlo)(?: command)? (?:\w{1,20} )?(?:rejected|invalid)|(?:mismatches|resolve your|unresolvable) \w{1,10}|geo-?filter|intrusion prevention)\b/i,
  /\b(?:(?:from|by|on|of|for|with) your (?:e-?mail |mail )?(?:ip|isp|host|server|network|system)|your (?:ip|network|server|host|remotehost) (?:address )?(?:is|was|has|looks|requires|does)|(?:no access|mail) from (?:mail server|(?:\d{1,3}\.){3}\d))/i,
  /\b(?:starttls|tls (?:is )?required|encryption (?:is )?required)\b/i,
  /\b(?:(?:null|empty|bad|invalid|unknown|bogus|forged|spoofed|unverified|unroutable|outbound|envelope) (?:e-?mail )?senders?|senders? (?:(?:e-?mail )?address|domain|verif\w{1,12}|ip|id|is|was|not|unknown|rejected|denied|refused|blocked)|mail from (?:not|is|address|domain|rejected|denied)|bogus mail from|from: (?:\w{1,10} )?(?:domain|header|address)|[ée]metteur invalide)\b/i,
  /\b(?:(?:domain|address|host)[^.\n]{0,20} (?:in|of) (?:mail from|helo|ehlo)|(?:helo|ehlo|return[- ]path|envelope|sending|your|from address|mail from) (?:domain|host|address)|sender callout|\(call-?(?:out|back)\)|valid mx for your|ptr for|user or password|(?:mx|exchanger)s? for (?:the )?sender)\b/i,
  /(?:absender|expéditeur|remitente|remetente|mittente|отправител)[^.\n]{0,20}(?:existiert nicht|n['’]existe pas|no existe|não existe|non esiste|inesistente|inexistente|не существует)|(?:差出人|発信元|送信者)の?アドレス(?:が存在しま|は存在しま)|(?:发件人|發件人)地址不存在|보낸 사람 주소가 존재하지/i,
  // The server had not yet heard who the recipient is.
  /\b(?:in reply to|after)\b(?: pipelined)? (?:mail from|helo|ehlo|initial connection)\b/i,
  /(?<![a-z])spam/i,
  /\b(?:unsolicited|bulk (?:e-?)?mail|bulk.advertising|mass mailer|suspicious|malicious|malware|trojan|phish\w{0,4}|infected|(?<!(?:scanned|checked) (?:for|by) )virus(?: (?:detected|found)|$)|contains? (?:a )?virus|(?:mail|message|unacceptable|banned|content) (?:content|filter)\w{0,3}|content (?:is )?(?:rejected|refused|denied)|message (?:was |has been |is )?filtered|pattern detection|prohibited|(?:forbidden|executable) (?:files?|attachments?)|(?:illegal|potentially executable) attachments?|(?:mail|messages?) (?:with|containing)[^.\n]{0,20}attachments?|duplicate header|multiple [\w-]{1,20} headers?|header (?:are|is) not accepted|not rfc|message headers fail)\b/i,
  /\b(?:polic(?:y|ies)|organi[sz]ation(?:al)? (?:settings|rules?)|administrative prohibition|(?<!or )access denied|(?<!recipient )not authori[sz]ed|delivery not authori[sz]ed|not subscribed|non-?members?|members-only|closed (?:mailing )?list|restricted to|too many hops|mail loop|message (?:is )?looping|(?<!(?:account|mailbox|user)(?: is| has been)? )blocked|permission to (?:post|send)|not (?:allowed|permitted) to (?:post|send)|not accept (?:messages|mail) from|from multiple addresses)\b/i,
  /absender[^.\n]{0,40}(?:abgelehnt|abgewiesen|gesperrt|blockiert|unbekannt)|richtlinie|unerwünscht|expéditeur[^.\n]{0,40}(?:refusé|rejeté|bloqué|interdit|inconnu)|politique|indésirable|remitente[^.\n]{0,40}(?:rechazad|bloquead|no autorizad|desconocid)|mittente[^.\n]{0,40}(?:rifiutat|bloccat|non autorizzat|sconosciut)|remetente[^.\n]{0,40}(?:bloquead|rejeitad|recusad|não autorizad)|pol[íi]tica|(?:contiene|contém|enthält|contient) (?:\S{1,6} )?virus/i,
  /afzender[^.\n]{0,40}(?:geweigerd|geblokkeerd|afgewezen)|avsändar[^.\n]{0,40}(?:nekad|avvisa|blocker)|afsender[^.\n]{0,40}(?:afvist|blokeret)|avsender[^.\n]{0,40}(?:avvist|blokkert)|nadawc[^.\n]{0,40}(?:odrzucon|zablokowan)|odesílatel[^.\n]{0,40}(?:odmítnut|blokov)|gönderen[^.\n]{0,40}(?:reddedil|engellen)|отправител[^.\n]{0,40}(?:отклон|отверг|заблокирован|запрещ)|политик|送信者[^。\n]{0,20}(?:拒否|ブロック)|ポリシー|ウイルス|(?:发件人|發件人)[^。\n]{0,20}(?:拒绝|拒絕|屏蔽)|策略|病毒|발신자[^.\n]{0,20}(?:차단|거부)|정책|바이러스/i,
  /垃圾|спам|スパム|迷惑メール|스팸|pourriel|correo no deseado/i,
]

/** The server never got through, or not to the end: nothing is known of the address. */
const GIVEN_UP =
  /\b(?:retry time(?:out)? exceeded|timed? ?out|connection refused|in the queue too long|(?:message|envelope|delivery) (?:has )?expired|could not be delivered for \d|after (?:multiple|several|\d{1,4}) (?:retries|attempts)|failed \d{1,4} attempts|tried all mxs|did not accept our requests to connect|not (?:responding|reachable)|(?:please |, )try again|temporary (?:dns|failure in name)|servfail|server misbehaving|certificate)\b/i

const NOBODY: readonly RegExp[] = [
  /\b(?:no such (?:local |e-?mail )?(?:user|mailbox|recipient|address|account|person|domain)|(?:unknown|invalid|illegal|bad|wrong|non-?existent)[- ](?:or \w{1,10} )?(?:local[ -]?part|local |virtual |destination )?(?:e-?mail )?(?:user|mailbox|recipient|address|account|alias|hosts?|domain)|unknown local-part|(?:user|mailbox|recipient|addresse?|account|alias|domain|host|name)s?\b(?:[^.;,\n]|\.(?=\w)){0,60}(?:\bunknown|\bnot (?:found|exist|present|known)|n't (?:exist|be found)|\bnot (?:be )?(?:recognized|found|listed in)|\bno longer (?:exists|valid|available|on))|(?:user|recipient|mailbox|address) (?:is )?(?:invalid|wrong)|userunknown|recip(?:ient)?notfound)\b/i,
  /\b(?:not an? (?:known|valid|existing|registered|active) (?:user|mailbox|recipient|address|account)|no (?:account|mail ?box|person|user|recipient|one)\b (?:by|with|at|found|here|available|for) |no mailbox|no mail box|(?:account|mailbox|address|user) (?:has been |was |is )(?:deleted|removed)|in my (?:list of )?valid ?(?:rcptto|recipients?)|unrouteable (?:mail domain|address)|(?:no|valid) (?:valid )?(?:mx|mail exchangers?)\b|(?:find|have) any (?:host|mail exchanger)|do(?:es)?n['’]t have an? [^\n]{0,60}account|host unknown|domain must exist|nxdomain|invalid final delivery userid|addressee unknown|user ?not known)\b/i,
]

const NOBODY_ELSEWHERE: readonly RegExp[] = [
  /(?:benutzer|empfänger|adresse|postfach|konto)[^.\n]{0,60}(?:unbekannt|existiert nicht|nicht (?:existiert|gefunden|vorhanden|[^.\n]{0,30}aufgelistet))|unbekannter (?:benutzer|empfänger)/i,
  /(?:utilisateur|destinataire|adresse|compte|bo[iî]te)[^.\n]{0,60}(?:inconnu|n['’]existe pas|introuvable|inexistant|n['’]est pas répertorié)/i,
  /(?:usuario|destinatario|dirección|cuenta|buzón)[^.\n]{0,60}(?:desconocid|no existe|no encontrad|inexistente)|no se ha encontrado la dirección/i,
  /(?:utente|destinatario|indirizzo|casella)[^.\n]{0,60}(?:sconosciut|non esiste|inesistente|non (?:è stat[oa] )?trovat)/i,
  /(?:usuário|utilizador|destinatário|endereço|conta|caixa)[^.\n]{0,60}(?:desconhecid|não existe|inexistente|não (?:foi )?encontrad)/i,
  /onbekende (?:gebruiker|ontvanger)|(?:gebruiker|ontvanger|e-mailadres)[^.\n]{0,40}(?:onbekend|bestaat niet|niet (?:gevonden|bestaat))/i,
  /nie ma takiego (?:użytkownika|adresu)|(?:użytkownik|adres|skrzynka|odbiorca)[^.\n]{0,40}(?:nie istnieje|nieznan|nie (?:został )?znalezion)/i,
  /(?:uživatel|adresa|schránka)[^.\n]{0,40}(?:neexistuje|nenalezen|neznám|nebyla nalezena)/i,
  /(?:okänd|ukendt|ukjent) (?:användare|mottagare|bruger|modtager|bruker|mottaker)|(?:användare|mottagare|adress|bruger|modtager|bruker)[^.\n]{0,40}(?:finns inte|hittades inte|findes ikke|finnes ikke)/i,
  /tuntematon (?:käyttäjä|vastaanottaja)|ismeretlen (?:felhasználó|címzett)|(?:felhasználó|címzett)[^.\n]{0,40}nem létezik|utilizator[^.\n]{0,40}(?:inexistent|necunoscut|nu există)/i,
  /böyle bir (?:kullanıcı|adres)[^.\n]{0,20}yok|(?:kullanıcı|adres|alıcı)[^.\n]{0,40}(?:bulunamadı|bilinmiyor|mevcut değil)|(?:pengguna|alamat|penerima)[^.\n]{0,40}tidak (?:dikenal|ditemukan|ada)/i,
  /(?:địa chỉ|người nhận|người dùng)[^.\n]{0,40}không tồn tại|không tìm thấy (?:địa chỉ|người)/i,
  /(?:пользовател|получател|адрес|ящик|абонент|користувач|скринь|потребител)[^.\n]{0,60}(?:не существует|не найден|неизвест|не існує|не знайден|невідом|не съществува)|няма такъв (?:потребител|адрес)/i,
  /(?:χρήστης|παραλήπτης|διεύθυνση)[^.\n]{0,40}(?:άγνωστ|δεν υπάρχει|δεν βρέθηκε)|(?:משתמש|נמען|כתובת)[^.\n]{0,40}(?:לא קיי|לא נמצא|לא ידוע)|(?:المستخدم|العنوان|المستلم)[^.\n]{0,40}(?:غير موجود|غير معروف)|لم يتم العثور على العنوان|ไม่พบ(?:ที่อยู่|ผู้ใช้|ผู้รับ)|पता नहीं मिला/i,
  /(?:ユーザー?|宛先|あて先|アドレス|受信者|メールボックス)[^。\n]{0,30}(?:存在しません|見つかりません|見つからない|不明)/,
  /(?:帐号|账号|账户|用户|收件人|邮箱|地址|帳號|使用者)[^。\n]{0,20}不存在|找不到(?:收件人|您输入|用户|地址)/,
  /존재하지 않는|(?:사용자|수신자|주소|계정)[^.\n]{0,20}(?:없습니다|없음|존재하지|찾을 수 없)/,
]

/** The server does not know either, and says what it may have been. */
const GUESSED =
  /\b(?:(?:may|might|could) (?:not |no longer )?(?:exist|be (?:in(?:valid|correct)|wrong|unknown|misspelled|unavailable))|(?:possible|likely|common) (?:reasons|causes)|mögliche (?:gründe|ursachen)|causes possibles|posibles causas|possibili cause)|возможные причины|可能的?原因/i

/** There is somebody, who cannot be written to now. */
const CLOSED =
  /\b(?:user|account|mailbox|recipient)\b[^.\n]{0,40}\b(?:disabled|suspended|inactive|deactivated|locked|frozen|not active)\b/i

/** The causes that a report names in words. `nobody` counts only where neither a code nor another cause is given. */
export interface Causes {
  readonly full: boolean
  readonly tooLarge: boolean
  /** Something against who sends, or how. */
  readonly sender: boolean
  readonly refused: boolean
  readonly givenUp: boolean
  readonly nobody: boolean
  /** The account is there, and takes no mail. */
  readonly closed: boolean
}

const ADDRESS = /[^\s@<>]{1,254}@[^\s@.<>]{1,254}(?:\.[^\s@.<>]{1,63}){0,10}/g

const DOMAIN_NAME = String.raw`((?:[\w-]{1,63}\.){1,8}[a-z][\w-]{1,62})`
const EXCHANGER = String.raw`(?:mx|mail exchanger|dns)s?\b`
const LACKS_ONE = String.raw`(?:ha(?:s|ve) no|lacks|does(?:n['’]t| not) have|must have)\b[^.\n]{0,20}\b${EXCHANGER}`
const IS_MISSING = String.raw`(?:does(?:n['’]t| not) (?:exist|resolve)|not (?:found|exist)|(?:can|could)(?:not| not|n['’]t) be|is (?:invalid|unknown)|must (?:exist|resolve))\b`
/** A domain, by its name, that does not exist or takes no mail. */
const NO_DOMAIN: readonly RegExp[] = [
  new RegExp(String.raw`\bdomain(?: name)?\W{1,3}${DOMAIN_NAME}\W{1,3}${IS_MISSING}`, 'i'),
  new RegExp(
    String.raw`\b${EXCHANGER}(?: records?)?(?: found| exists?)? (?:for|of) (?:domain )?["'<]?${DOMAIN_NAME}\b`,
    'i',
  ),
  new RegExp(String.raw`\b${DOMAIN_NAME}["'>]? ${LACKS_ONE}`, 'i'),
]

/** The server that answered, as another names it. */
const HOST = /\b[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?=\[[\da-f.:]{2,45}\])/gi

/** @param recipient the address that failed: a missing domain that is not its own is the sender's */
export function causesIn(said: string, recipient?: string): Causes {
  const text = said.includes('[') ? said.replace(HOST, ' ') : said
  const hasAddress = text.includes('@')
  // Neither addresses nor names of hosts are words: `spam@` may be the one that is unknown.
  const prose = hasAddress ? text.replace(ADDRESS, ' ') : text
  const says = (patterns: readonly RegExp[], words = prose): boolean => patterns.some((pattern) => pattern.test(words))
  return {
    full: says([...FULL, FULL_ELSEWHERE, FULL_FURTHER]),
    tooLarge: TOO_LARGE.test(prose),
    sender: says(SENDER),
    refused: says(REFUSED) || saysOfOtherDomain(text, recipient),
    givenUp: GIVEN_UP.test(prose),
    closed: CLOSED.test(prose),
    nobody:
      !says([GUESSED, CLOSED]) &&
      says([...NOBODY, ...NOBODY_ELSEWHERE], hasAddress ? text.replace(ADDRESS, 'address') : text),
  }
}

/** Whether it says of a domain that is neither that of the recipient, nor above or below it, that there is none. */
function saysOfOtherDomain(text: string, recipient: string | undefined): boolean {
  if (recipient?.includes('@') !== true) return false
  const own = recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase()
  const named = NO_DOMAIN.map((pattern) => pattern.exec(text)?.[1]?.toLowerCase()).find((name) => name !== undefined)
  return named !== undefined && !`.${named}`.endsWith(`.${own}`) && !`.${own}`.endsWith(`.${named}`)
}
