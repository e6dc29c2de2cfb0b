import type { Language } from './language.ts'

const english: Language = {
  on: 'on|at|in a message dated|in message|in article',
  wrote: 'wrote|writes|has written',
  quoting: 'quoting|quoted from',
  from: 'from|sender',
  sent: 'sent|sent on|sent at',
  date: 'date',
  to: 'to|cc|bcc',
  subject: 'subject|subj',
  original:
    'original message|original appointment|reply message|replied message|original e-mail|original email|original mail',
  forwarded: 'forwarded message|forwarded by|forwarded mail|forwarded email|fwd.msg',
  forwardBegins: 'begin forwarded message',
  replyAbove:
    'reply above this line|type your reply above this line|please reply above this line|do not type below this line|do not write below this line|all text above this line|add your reply above this line',
  aboveLine: 'write above this line|above this line',
  signed:
    'sent from|sent via|sent with|sent using|sent on|get outlook for|get outlook|get bluemail for|get bluemail|get typeapp for|sent by my',
  device:
    'phone|smartphone|smart phone|mobile|mobile phone|mobile device|cell phone|cell|cellphone|tablet|handheld|wireless device|wireless handheld|wireless handheld device',
  signedWith:
    'my|the|a|an|for|on|via|with|using|from|and|mail|email|e-mail|app|application|device|wireless|secure|enjoy|ad-free|ad|free|emails|all|new|all-new|most|running|get the app|pc|version|network|please excuse my brevity|please excuse brevity|excuse my brevity',
  closing:
    'regards|best regards|kind regards|warm regards|best|best wishes|all the best|many thanks|thanks|thank you|thanks again|cheers|sincerely|yours sincerely|yours faithfully|yours truly|br|kr|rgds|take care|with best regards',
  message: 'email|e-mail|mail|message',
  footer:
    'intended recipient|intended solely for|intended only for|named addressee|confidentiality notice|privileged and confidential|confidential and intended|confidential and may|received this email in error|received this e-mail in error|received this message in error|received it in error|consider the environment|think before you print|before printing this|checked for viruses|scanned for viruses|virus-free|you received this message because|you are receiving this|you received this email because|disclaimer:|reply to this email directly,|reply to this email directly or',
  list: 'to unsubscribe|unsubscribe from this|unsubscribe here|unsubscribe:|to stop receiving|to view this discussion|manage your subscription|manage your notification|mailing list -|mailing list archive|this message was sent to|email is a service from|view it on github',
  company:
    'registered in england|registered office|company registration|company number|registered number|vat no|vat number|limited company',
}

const german: Language = {
  on: 'am|den|vom',
  wrote: 'schrieb|schrieben|schreibt|geschrieben|schrieben sie',
  quoting: 'zitat von|zitiere',
  from: 'von|absender',
  sent: 'gesendet|gesendet am|verschickt|versendet',
  date: 'datum',
  to: 'an|kopie|kopie (cc)|empfänger',
  subject: 'betreff|betr',
  original:
    'ursprüngliche nachricht|originalnachricht|original-nachricht|original nachricht|ursprüngliche mail|ursprüngliche e-mail|originalmail|ursprünglicher termin|urspruengliche nachricht|original-e-mail',
  forwarded: 'weitergeleitete nachricht|weitergeleitete mail|weitergeleitete e-mail|weitergeleitet von',
  forwardBegins: 'anfang der weitergeleiteten nachricht|anfang der weitergeleiteten e-mail|weitergeleitete nachricht',
  replyAbove:
    'antworten sie bitte oberhalb dieser linie|bitte oberhalb dieser linie antworten|bitte antworten sie oberhalb dieser zeile|über dieser linie antworten|bitte über dieser linie antworten',
  aboveLine: 'oberhalb dieser zeile|über dieser zeile|oberhalb dieser linie',
  signed:
    'gesendet von|gesendet mit|gesendet über|gesendet aus|von meinem|von meiner|gesendet|versendet mit|gesendet per|outlook für|holen sie sich outlook für|diese nachricht wurde von meinem|diese nachricht wurde mit|diese e-mail wurde von meinem|von unterwegs',
  device: 'handy|smartphone|mobiltelefon|tablet|mobilgerät|telefon|android-gerät|gerät|mobilen endgerät|mobil',
  signedWith:
    'mein|meinem|meiner|meinen|mit|der|dem|von|vom|für|auf|aus|app|mail|e-mail|gesendet|versendet|geschickt|beziehen|herunterladen|holen|sie sich|und|via|über|bitte entschuldigen sie die kürze|bitte entschuldigen sie meine kürze|bitte verzeihen sie die kürze|telekom',
  closing:
    'mit freundlichen grüßen|mit freundlichen grüssen|mit freundlichem gruß|freundliche grüße|freundliche grüsse|viele grüße|viele grüsse|beste grüße|beste grüsse|liebe grüße|liebe grüsse|herzliche grüße|schöne grüße|gruß|grüße|lg|mfg|vg|bg|hochachtungsvoll|danke|vielen dank',
  message: 'e-mail|mail|nachricht',
  footer:
    'nicht der richtige adressat|nicht der beabsichtigte empfänger|nicht der vorgesehene empfänger|enthält vertrauliche|vertrauliche und/oder rechtlich|vertrauliche informationen|irrtümlich erhalten|auf viren überprüft|auf viren geprüft|virenfrei|denken sie an die umwelt|bevor sie diese e-mail ausdrucken|diese nachricht ist vertraulich|diese e-mail ist vertraulich|ausschließlich für den adressaten',
  list: 'um sich abzumelden|newsletter abbestellen',
  company:
    'sitz der gesellschaft|registergericht|handelsregister|amtsgericht|geschäftsführer|geschäftsführung|vorstand|hrb|hra|ust-idnr|ust-id|vorsitzender des aufsichtsrats|sitz',
}

const dutch: Language = {
  on: 'op',
  wrote: 'schreef|schreef het volgende|het volgende geschreven|geschreven|schrijft|schreven',
  from: 'van|afzender',
  sent: 'verzonden|verstuurd',
  date: 'datum',
  to: 'aan|kopie',
  subject: 'onderwerp|betreft',
  original: 'oorspronkelijk bericht|origineel bericht|originele bericht|oorspronkelijke bericht',
  forwarded: 'doorgestuurd bericht|doorgestuurde bericht|doorgezonden bericht',
  forwardBegins: 'begin doorgestuurd bericht|begin van doorgestuurd bericht',
  replyAbove: 'typ uw antwoord boven deze regel|antwoord boven deze regel',
  aboveLine: 'boven deze regel|boven deze lijn',
  signed:
    'verstuurd vanaf|verzonden vanaf|verstuurd met|verzonden met|verstuurd van|verzonden van|verstuurd via|verzonden via|verzonden vanuit|verstuurd vanuit|outlook voor|download outlook voor',
  device: 'telefoon|smartphone|mobiel|mobiele telefoon|tablet|gsm|toestel',
  signedWith: 'mijn|een|met|de|voor|op|via|app|mail|e-mail|downloaden|downloade|ophalen|verkrijgen|van',
  closing:
    'met vriendelijke groet|met vriendelijke groeten|vriendelijke groet|vriendelijke groeten|hartelijke groet|groet|groeten|groetjes|mvg|bedankt|alvast bedankt',
  message: 'bericht',
  footer:
    'niet de beoogde ontvanger|uitsluitend bestemd voor|vertrouwelijke informatie|abusievelijk ontvangen|niet de geadresseerde|aan dit bericht kunnen geen rechten|denk aan het milieu|gecontroleerd op virussen|virusvrij',
  list: 'om u af te melden|afmelden voor deze',
}

const swedish: Language = {
  on: 'den',
  wrote: 'skrev|skriver|skrev följande',
  from: 'från|avsändare',
  sent: 'skickat|skickades',
  date: 'datum',
  to: 'till|kopia',
  subject: 'ämne|ärende',
  original: 'ursprungligt meddelande|originalmeddelande|ursprungsmeddelande|ursprungligt e-postmeddelande',
  forwarded: 'vidarebefordrat meddelande|vidarebefordrat mejl|vidarebefordrat brev|vidarebefordrat e-postmeddelande',
  forwardBegins: 'vidarebefordrat brev|vidarebefordrat mejl|vidarebefordrat meddelande',
  replyAbove: 'svara ovanför denna rad|skriv ditt svar ovanför denna rad',
  aboveLine: 'ovanför den här raden|ovanför denna linje',
  signed: 'skickat från|skickat med|skickat via|hämta outlook för|skickades från',
  device: 'telefon|mobil|mobiltelefon|mobilen|surfplatta|smartphone|smarttelefon|läsplatta',
  signedWith: 'min|mitt|med|för|på|app|e-post|mail|från|i',
  closing:
    'med vänlig hälsning|med vänliga hälsningar|vänliga hälsningar|vänlig hälsning|hälsningar|mvh|vh|tack|hälsar|bästa hälsningar',
  message: 'meddelande|mejl|mail',
  footer:
    'avsedda mottagaren|konfidentiell information|av misstag fått|tänk på miljön|kontrollerats för virus|virusfri',
  list: 'för att avsluta prenumerationen',
}

const danish: Language = {
  on: 'den|d.',
  wrote: 'skrev|skriver|har skrevet',
  from: 'fra|afsender',
  sent: 'sendt|sendt den',
  date: 'dato',
  to: 'til|kopi',
  subject: 'emne|vedr',
  original:
    'oprindelig meddelelse|oprindelig besked|original besked|original meddelelse|oprindelig mail|den oprindelige meddelelse',
  forwarded: 'videresendt meddelelse|videresendt besked|videresendt mail',
  forwardBegins:
    'start på videresendt besked|videresendt besked|start på videresendt meddelelse|start på videresendt mail',
  replyAbove: 'svar venligst over denne linje|svar over denne linje|skriv dit svar over denne linje',
  aboveLine: 'over denne linje',
  signed: 'sendt fra|sendt med|sendt via|hent outlook til|hent outlook for',
  device: 'telefon|mobil|mobiltelefon|smartphone|tablet|mobilen|tlf',
  signedWith: 'min|mit|med|til|for|på|app|mail|e-mail|fra|i',
  closing:
    'med venlig hilsen|venlig hilsen|de bedste hilsner|bedste hilsner|mange hilsner|hilsen|mvh|vh|kh|på forhånd tak|tak',
  message: 'besked|meddelelse',
  footer:
    'den tiltænkte modtager|fortrolige oplysninger|modtaget denne e-mail ved en fejl|tænk på miljøet|kontrolleret for virus',
  list: 'for at afmelde',
}

const norwegian: Language = {
  on: 'den|på',
  wrote: 'skrev|skreiv|skriver|skrev følgende',
  from: 'fra|avsender',
  sent: 'sendt',
  date: 'dato|dato/klokkeslett',
  to: 'til|kopi',
  subject: 'emne',
  original: 'opprinnelig melding|original melding|opprinneleg melding|opprinnelig e-post',
  forwarded: 'videresendt melding|videresendt e-post|vidaresend melding',
  forwardBegins: 'videresendt melding|start på videresendt melding',
  replyAbove: 'svar over denne linjen|skriv svaret ditt over denne linjen',
  aboveLine: 'over denne linjen',
  signed: 'sendt fra|sendt med|sendt via|hent outlook for|skaff deg outlook for|last ned outlook for',
  device: 'telefon|mobil|mobiltelefon|smarttelefon|nettbrett|mobilen',
  signedWith: 'min|mitt|med|til|for|på|app|e-post|mail|fra|i',
  closing: 'med vennlig hilsen|vennlig hilsen|med venleg helsing|beste hilsen|mvh|hilsen|takk',
  message: 'melding|e-posten',
  footer: 'rette mottaker|konfidensiell informasjon|mottatt denne e-posten ved en feil|tenk på miljøet',
}

export const germanic: readonly Language[] = [english, german, dutch, swedish, danish, norwegian]
