/** What mail servers write about a mail that they have not delivered, or not yet, in the languages of their users. */
const FAILED: readonly RegExp[] = [
  /this is the (?:qmail-send program|mail (?:system|delivery)|mailer-daemon|\w{1,20} mail(?:er)? (?:server|program) at)/i,
  /undeliver(?:ed|able)|could not be completed|failure notice|failure delivery|returned mail|mail system error|nondeliverable mail/i,
  /(?:mail|message|messages?|delivery) .{0,40}(?:delivery failed|returned to sender|returning (?:message )?to sender)|mail failed|message status - undeliverable/i,
  /delivery (?:status notification|failure|has failed|failed|problem|to the following .{0,40}failed|incomplete|delayed|notification)/i,
  /(?:could not|couldn't|can ?not|can't|was not|wasn't|unable to|not) (?:be )?(?:been )?(?:being )?(?:yet )?(?:been )?deliver(?:ed)?\b|not yet been delivered|(?:wasn't|not|un)[ -]?able to deliver|did not reach the following|automatically rejected|warning: could not send message/i,
  /(?:following|failed) (?:address(?:es|\(es\))?|recipients?(?:\(s\))?)(?: had| failed|:)|fatal (?:delivery )?errors|invalid user address|had delivery problems|unsent message|(?:unknown|invalid) (?:user|host|recipient):/i,
  /group (?:you tried|that you tried) to contact/i,
  /unzustellbar|zustell(?:ung fehlgeschlagen|fehler)|nicht .{0,40}zugestellt/i,
  /n['’]a pas (?:pu [êe]tre|été) (?:remis|distribu[ée]|d[ée]livr[ée]|livr[ée])|échec de (?:la )?(?:remise|distribution)|non (?:remis|distribué)/i,
  /no (?:se )?(?:pudo|pudimos|ha podido|puede) .{0,30}entreg|no entregado|mensaje devuelto/i,
  /não (?:foi possível|pôde|pode) .{0,30}entreg|não entregue|falha na entrega/i,
  /non è stato (?:consegnato|recapitato)|impossibile (?:consegnare|recapitare)|mancat[oa] (?:recapito|consegna)|non recapitabile/i,
  /niet (?:worden )?(?:bezorgd|afgeleverd)|niet (?:te bezorgen|bestelbaar)/i,
  /nie (?:została dostarczona|dostarczono|można dostarczyć)|niedostarcz/i,
  /nemohla? být doručen|nedoručiteln|nelze doručit|nu a putut fi livrat|nem sikerült kézbesíteni|kézbesíthetetlen/i,
  /kunde inte levereras|gick inte att leverera|olevererbar|kunne ikke leveres|kan ikke leveres|ei voitu toimittaa/i,
  /teslim edilemedi|iletilemedi|tidak dapat (?:di|ter)?kirim|gagal (?:ter|di)?kirim|không (?:được gửi|thể gửi)|ไม่ถูกส่ง|ไม่สามารถส่ง/i,
  /не (?:может|могло|было|был|вдалося|удалось|удается|може да) ?(?:быть |бъде )?достав|не достав|недостав|не может быть отправлен/i,
  /δεν ήταν δυνατό να παραδοθεί|αποτυχία παράδοσης|לא נמסר|לא ניתן למסירה|لم يتم تسليم|تعذر تسليم/i,
  /退信|被退回|(?:无法|無法|未能)[^。\n]{0,10}(?:投递|投遞|送达|送達|传递)|未送达/,
  /(?:配信|送信|配送|配達)[^。\n]{0,8}(?:でき|エラー|失敗|不能)|(?:전송|발송)[^.\n]{0,4}실패|반송되었|배달되지|배달할 수 없/,
]

/** The server goes on trying. */
const DELAYED: readonly RegExp[] = [
  /\b(?:delayed|delay\)|still (?:being (?:re)?tried|trying)|will (?:continue|keep) (?:trying|to try)|will (?:be retried|retry)|not yet (?:been )?delivered|not been delivered yet|could not send message for past|do not need to resend|warning message only|only a warning)/i,
  /(?:noch|bisher) nicht .{0,20}zugestellt|verzögert|weiter versucht|différée?\b|retardée?\b|retrasad|ritardat|atrasad|vertraagd|opóźnion|försenad|forsinket|задержив|задержан|попытки .{0,20}продолж|затримк|遅延|延迟|延遲|지연/i,
  /n['’]a pas encore été|continuer(?:ons|a) d['’]essayer|(?:todavía|aún) no (?:se )?ha|seguir(?:á|emos) intent|non è stato ancora|non è ancora stato|ulteriori tentativi|ainda não (?:foi|pôde)|continuar(?:á|emos) tentando|nog niet (?:afge|be|worden)|blijven proberen|jeszcze (?:nie|dostarczon)|nie została jeszcze|próby .{0,30}kontynuowane|ännu inte|endnu ikke|ennå ikke|vielä toimitettu|ei ole vielä|dosud nebyl|zatím nebyl|pokusy .{0,30}pokračovat|még nem|încă nu|henüz|ще не (?:було )?достав|ещ[её] не (?:было )?достав|пока не (?:было )?достав|δεν έχει παραδοθεί ακόμ|עדיין לא|لم يتم .{0,20}بعد|まだ配信|再試行|尚未(?:送达|投递|送達|投遞)|继续尝试|繼續嘗試|아직|계속 시도|chưa (?:được )?gửi|belum (?:ter)?kirim/i,
]

/** The mail has arrived, or waits for somebody to let it through. */
const DELIVERED =
  /\b(?:was|has been|have been) (?:successfully )?(?:delivered|relayed)\b|success(?:ful|fully)? (?:mail )?deliver(?:y|ed)|delivery (?:confirmation|receipt|status notification \((?:success|relay)\))|return receipt|erfolgreich (?:zugestellt|übermittelt)|(?:remis|distribué|livré) avec succès|entregad[oa] (?:correctamente|con éxito)|entregue com sucesso|consegnato correttamente|успешно доставлен|配信されました|投递成功|(?:is being|been|was) (?:held|quarantined)|awaits moderator|in quarantäne|en cuarentena|mis en quarantaine/i

/** Whether words say that a mail was not delivered, or not yet. Line breaks must be blanks in them. */
export function announcesFailure(words: string): boolean {
  return FAILED.some((pattern) => pattern.test(words)) || announcesDelay(words)
}

/** Whether words say that delivery is still attempted. */
export function announcesDelay(words: string): boolean {
  return DELAYED.some((pattern) => pattern.test(words))
}

/** Whether words say that a mail was delivered after all, or is kept for somebody's decision. */
export function announcesDelivery(words: string): boolean {
  return DELIVERED.test(words)
}

/** Somebody is away, and a program answers the mail. */
const ABSENT: readonly RegExp[] = [
  /\bout of (?:the |my )?office|\b(?:is|am|be|currently|i'm) (?:away|(?:on )(?:annual |parental |maternity |sick )?(?:leave|vacation|holidays?))\b/i,
  /abwesen|im urlaub|nicht im (?:haus|büro)|absente? du bureau|(?:suis|en) (?:absente?|congés?|vacances)|fuera de la oficina|de vacaciones|in ferie|fuori sede|de férias|ausente|afwezig|met vakantie/i,
  /(?:på|til) (?:semester|ferie)|frånvaro|lomalla|poissaolo|na urlopie|nieobecn|dovolen(?:á|é|ou)|szabadság|concediu|izindeyim/i,
  /в отпуске|у відпустці|απουσι|בחופשה|في إجازة|不在にして|休假|부재중|휴가/i,
  // Reports call themselves automatic, too, but not in the first words of their subject.
  /^\s*(?:re: )?(?:auto(?:matic)?[- ]?(?:reply|response)|réponse automatique|respuesta automática|risposta automatica|resposta automática|automatisch antwoord|autosvar|automatisk svar|odpowiedź automatyczna|automatická odpov|automatikus válasz|răspuns automat|otomatik yanıt|автоматический ответ|автоответ|автоматична відповідь|αυτόματη απάντηση|תשובה אוטומטית|رد تلقائي|自動応答|自动回复|自動回覆|자동 회신)/i,
]

/** Whether a subject and the words below it say that somebody is away. Line breaks must be blanks in them. */
export function announcesAbsence(words: string): boolean {
  return ABSENT.some((pattern) => pattern.test(words))
}
