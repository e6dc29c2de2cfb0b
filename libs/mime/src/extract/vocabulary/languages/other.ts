import type { Language } from './language.ts'

const finnish: Language = {
  quoting: 'lainaus|lainaan',
  wrote: 'kirjoitti|kirjoittaa|kirjoitti seuraavaa|kirjoittivat',
  from: 'lähettäjä',
  sent: 'lähetetty',
  date: 'päivämäärä|päiväys|pvm',
  to: 'vastaanottaja|kopio|saaja',
  subject: 'aihe',
  original: 'alkuperäinen viesti|alkuperäinen sähköposti',
  forwarded: 'välitetty viesti|edelleenlähetetty viesti|edelleen lähetetty viesti',
  forwardBegins: 'välitetty viesti alkaa|välitetty viesti|edelleenlähetetty viesti alkaa',
  replyAbove: 'kirjoita vastauksesi tämän rivin yläpuolelle',
  aboveLine: 'tämän rivin yläpuolelle',
  signed: 'lähetetty|hanki outlook for|hanki outlook',
  device:
    'puhelimesta|puhelimestani|matkapuhelimesta|älypuhelimesta|älypuhelimestani|kännykästä|tabletista|laitteesta|tabletistani',
  signedWith: 'minun|mobiili|sovelluksesta|sähköpostista|laitteelle|for|kautta|ille|lle|mailista',
  closing: 'terveisin|ystävällisin terveisin|parhain terveisin|yst. terv|yt|t|terv|kiitos|kiittäen',
  message: 'viesti|sähköposti',
  footer: 'luottamuksellinen|luottamuksellista tietoa|tarkoitettu vain vastaanottajalle',
}

const estonian: Language = {
  on: 'kuupäev',
  wrote: 'kirjutas|kirjutas kuupäeval|kirjutab',
  from: 'saatja|kellelt',
  sent: 'saadetud',
  date: 'kuupäev',
  to: 'adressaat|saaja|kellele',
  subject: 'teema',
  original: 'algne kiri|algne sõnum|originaalsõnum',
  forwarded: 'edastatud kiri|edastatud sõnum',
  signed: 'saadetud minu|saadetud',
}

const hungarian: Language = {
  wrote: 'ezt írta|írta|írta a következőt|a következőt írta|ezt írta (időpont',
  from: 'feladó|küldő',
  sent: 'elküldve|küldve|küldés dátuma|küldés ideje',
  date: 'dátum',
  to: 'címzett|másolat|másolatot kap',
  subject: 'tárgy',
  original: 'eredeti üzenet|eredeti levél|eredeti e-mail',
  forwarded: 'továbbított üzenet|továbbított levél',
  forwardBegins: 'továbbított levél kezdete|továbbított üzenet kezdete',
  signed: 'küldve|elküldve|elküldve a|küldve a|az outlook beszerzése|outlook letöltése',
  device: 'telefonomról|mobilomról|mobiltelefonról|táblagépről|okostelefonomról|telefonról',
  signedWith:
    'az|a|készülékemről|készülékről|az én|om|omról|emről|ról|ről|okostelefonról|okostelefonomról|alkalmazásból|rendszerű|letöltése',
  closing: 'üdvözlettel|tisztelettel|köszönettel|üdv|köszönöm',
  message: 'üzenet|levél',
  footer: 'bizalmas információ|nem ön a címzett',
}

const basqueAndIcelandic: Language = {
  on: 'þann',
  wrote: 'idatzi zuen|idatzi du|skrifaði',
  from: 'nork|frá',
  sent: 'bidalia|sent',
  to: 'nori|til',
  subject: 'gaia|efni',
}

const baltic: Language = {
  wrote: 'rašė|parašė|rakstīja|lietotājs',
  from: 'nuo|no|siuntėjas',
  sent: 'išsiųsta|nosūtīts',
  date: 'data|datums',
  to: 'kam|gavėjas',
  subject: 'tema|temats',
  original: 'pradinis pranešimas|sākotnējais ziņojums|originalus laiškas|sākotnējā ziņa',
  forwarded: 'persiųstas laiškas|pārsūtīta ziņa|persiųstas pranešimas',
  signed: 'išsiųsta iš|sūtīts no|nosūtīts no',
  signedWith: 'mano|mana|mans',
}

const greek: Language = {
  on: 'στις|την|στις/on',
  wrote: 'έγραψε|έγραψαν|γράφει',
  from: 'από|αποστολέας',
  sent: 'στάλθηκε|εστάλη|απεστάλη|αποστολή',
  date: 'ημερομηνία',
  to: 'προς|κοιν|κοινοποίηση|παραλήπτης',
  subject: 'θέμα',
  original: 'αρχικό μήνυμα|πρωτότυπο μήνυμα|αρχικο μηνυμα',
  forwarded: 'προωθημένο μήνυμα|προωθούμενο μήνυμα',
  forwardBegins: 'έναρξη προωθημένου μηνύματος',
  signed: 'στάλθηκε από|εστάλη από|αποκτήστε το outlook για|στάλθηκε με',
  device: 'κινητό|τηλέφωνο|κινητού|smartphone',
  signedWith: 'το|μου|τη|συσκευή|για|μέσω|με',
  closing: 'με εκτίμηση|φιλικά|ευχαριστώ|χαιρετισμούς|με φιλικούς χαιρετισμούς',
  message: 'μήνυμα',
  footer: 'εμπιστευτικές πληροφορίες',
}

const turkish: Language = {
  wrote: 'yazdı|şunu yazdı|şunları yazdı|tarihinde şunu yazdı|tarihinde yazdı|yazmış|tarihinde',
  from: 'kimden|gönderen',
  sent: 'gönderildi|gönderme tarihi|gönderilen|gönderim tarihi',
  date: 'tarih',
  to: 'kime|alıcı|bilgi',
  subject: 'konu',
  original: 'orijinal ileti|orijinal mesaj|özgün ileti|özgün mesaj|asıl ileti|orjinal mesaj',
  forwarded:
    'iletilen ileti|iletilmiş mesaj|yönlendirilen ileti|iletilen mesaj|yönlendirilmiş mesaj|yönlendirilen mesaj',
  forwardBegins: 'ileti başlangıcı|yönlendirilen ileti|iletilen ileti',
  replyAbove: 'bu satırın üzerine yazın',
  aboveLine: 'bu satırın üstüne|bu çizginin üstüne',
  signed: 'gönderildi|uygulamasından gönderildi|edinin|ile gönderildi|gönderilmiştir',
  device:
    'telefonumdan|telefonundan|akıllı telefonumdan|akıllı telefonundan|tabletimden|cep telefonumdan|mobil cihazımdan|cihazımdan',
  signedWith: 'akıllı|için|umdan|dan|den|uygulamasından|mobil|posta|ile|um|tarafından|imden|u',
  closing: 'saygılarımla|iyi çalışmalar|teşekkürler|sevgiler|selamlar|iyi günler|saygılar|teşekkür ederim',
  message: 'mesaj|ileti|e-posta',
  footer: 'gizli bilgi|yanlışlıkla|amaçlanan alıcı',
}

const hebrew: Language = {
  on: 'בתאריך|ב-|ביום',
  wrote: 'כתב/ה|כתב|כתבה|כתב\\ה|מאת',
  from: 'מאת|מ|מ-',
  sent: 'נשלח|נשלח ב',
  date: 'תאריך',
  to: 'אל|ל|עותק',
  subject: 'נושא',
  original: 'הודעה מקורית|ההודעה המקורית',
  forwarded: 'הודעה שהועברה|הודעה מועברת',
  forwardBegins: 'תחילת ההודעה שהועברה|הודעה שהועברה',
  signed: 'נשלח|נשלח מה|נשלח מ|נשלח מה-|נשלח באמצעות|נשלח מהטלפון|קבל את|נשלח ממכשיר',
  device: 'מהאייפון|אייפון|האייפון|טלפון|הטלפון|נייד|מהנייד',
  signedWith: 'שלי|עבור|ה|מה',
  closing: 'בברכה|תודה|תודה רבה|בכבוד רב|כל טוב',
  message: 'הודעה|הודעת|דוא"ל',
  footer: 'מידע חסוי',
}

const arabic: Language = {
  on: 'في|بتاريخ|يوم',
  wrote: 'كتب|كتبت|كتب/كتبت|تمت كتابة ما يلي بواسطة|كتب ما يلي|أرسل|كَتَب',
  from: 'من|المرسل|مرسل',
  sent: 'تم الإرسال|أرسلت|المرسلة|تاريخ الإرسال|تم إرسالها|أُرسلت',
  date: 'التاريخ|تاريخ',
  to: 'إلى|الى|نسخة|المستلم',
  subject: 'الموضوع|موضوع',
  original: 'الرسالة الأصلية|رسالة أصلية|الرسالة الأصليَّة',
  forwarded: 'رسالة معاد توجيهها|الرسالة المعاد توجيهها|رسالة مُعاد توجيهها|رسالة محولة|رسالة موجهة',
  forwardBegins: 'بدء الرسالة المُعاد توجيهها|بداية الرسالة المحولة',
  signed: 'أُرسلت من|أرسلت من|مرسل من|مُرسل من|تم الإرسال من|ارسلت من|الحصول على|أرسل من|مرسلة من|تم إرساله من|أُرسل من',
  device: 'هاتفي|جوالي|الهاتف|الجوال|هاتف',
  signedWith: 'ال|الـ|الخاص بي|لـ|جهاز|بي|ل|تطبيق|الخاص|على|عبر|المحمول',
  closing: 'مع التحية|مع تحياتي|تحياتي|شكرا|شكرًا|شكراً|وتفضلوا بقبول|مع خالص التحية|والسلام عليكم|مع الشكر',
  message: 'الرسالة|البريد',
  footer: 'معلومات سرية|المستلم المقصود',
}

const persian: Language = {
  on: 'در تاریخ|در|روز',
  wrote: 'نوشت|نوشته است|نوشته',
  from: 'از|فرستنده',
  sent: 'ارسال شده|ارسال',
  date: 'تاریخ',
  to: 'به|گیرنده',
  subject: 'موضوع',
  original: 'پیام اصلی|پیغام اصلی',
  forwarded: 'پیام هدایت شده|پیام فوروارد شده|پیام بازارسال شده',
  signed: 'ارسال شده از|فرستاده شده از',
  device: 'گوشی|موبایل|تلفن',
  signedWith: 'من|همراه',
  closing: 'با احترام|با تشکر|ارادتمند|سپاس',
}

export const other: readonly Language[] = [
  finnish,
  estonian,
  hungarian,
  basqueAndIcelandic,
  baltic,
  greek,
  turkish,
  hebrew,
  arabic,
  persian,
]
