import type { Language } from './language.ts'

const polish: Language = {
  on: 'w dniu|dnia|dn.',
  quoting: 'cytowanie|cytując|wiadomość napisana przez',
  wrote: 'napisał(a)|napisał|napisała|napisał/a|pisze|napisana przez|wiadomość napisana przez',
  from: 'od|nadawca',
  sent: 'wysłano|wysłane|wysłany',
  date: 'data',
  to: 'do|adresat|dw|kopia',
  subject: 'temat',
  original:
    'pierwotna wiadomość|oryginalna wiadomość|wiadomość oryginalna|wiadomość źródłowa|oryginalna wiadomość e-mail',
  forwarded: 'przekazana wiadomość|wiadomość przekazana dalej|treść przekazanej wiadomości|wiadomość przekazana',
  forwardBegins: 'początek przekazywanej wiadomości|początek przekazanej wiadomości',
  replyAbove: 'prosimy o odpowiedź powyżej tej linii|proszę odpowiadać powyżej tej linii|odpowiedz powyżej tej linii',
  aboveLine: 'powyżej tej linii',
  signed:
    'wysłane z|wysłano z|wysłane za pomocą|pobierz outlook dla|pobierz aplikację outlook dla|uzyskaj aplikację outlook dla|wysłano przez|wysłane przez|wysłane ze|wysłano ze',
  device: 'telefonu|smartfona|smartfonu|komórki|tabletu|tabletem|telefon|urządzenia mobilnego|urządzenia',
  signedWith: 'mojego|mojej|z|ze|programu|aplikacji|poczty|poczta|systemu|dla|na|pomocą|mail',
  closing:
    'pozdrawiam|z poważaniem|pozdrowienia|serdecznie pozdrawiam|z pozdrowieniami|z wyrazami szacunku|dziękuję|miłego dnia|pozdr',
  message: 'wiadomość|wiadomości',
  footer:
    'wyłącznie dla adresata|informacje poufne|zamierzonym adresatem|otrzymali państwo tę wiadomość|przez pomyłkę|zanim wydrukujesz|wolna od wirusów',
  list: 'aby wypisać się',
  company: 'sąd rejonowy',
}

const czech: Language = {
  on: 'dne|dňa|v',
  quoting: 'cituji|citace',
  wrote: 'napsal(a)|napsal|napsala|napsal/a|píše',
  from: 'od|odesílatel',
  sent: 'odesláno|odesílatel dne|odeslaná',
  date: 'datum',
  to: 'komu|kopie|příjemce',
  subject: 'předmět|věc',
  original: 'původní zpráva|původní e-mail|původní email|originální zpráva|puvodni zprava|původní schůzka',
  forwarded: 'přeposlaná zpráva|přeposlaný e-mail|přesměrovaná zpráva',
  forwardBegins: 'začátek přeposílané zprávy|začátek přeposlané zprávy',
  replyAbove: 'odpovídejte nad touto čarou',
  aboveLine: 'nad tento řádek|nad touto čarou|nad tuto čáru',
  signed: 'odesláno z|odesláno ze|odesláno pomocí|posláno z|získejte outlook pro|stáhnout outlook pro|odesláno přes',
  device: 'telefonu|mobilu|tabletu|mobilního telefonu|chytrého telefonu|mobilního zařízení|smartphonu',
  signedWith: 'mého|mé|z|ze|zařízení|pro|aplikace|pošta|pošty|pomocí|mail|mým',
  closing: 's pozdravem|s přátelským pozdravem|hezký den|děkuji|díky|zdraví|s úctou|s pozdravem a přáním hezkého dne',
  message: 'zpráva|zprávu|zprávy',
  footer:
    'určena výhradně|důvěrné informace|zamýšleným příjemcem|než vytisknete|neobsahuje viry|zkontrolována na přítomnost virů',
}

const slovak: Language = {
  on: 'dňa',
  wrote: 'napísal(a)|napísal|napísala|píše',
  from: 'od|odosielateľ',
  sent: 'odoslané|odoslaná',
  date: 'dátum',
  to: 'komu|pre|kópia|príjemca',
  subject: 'predmet',
  original: 'pôvodná správa|originálna správa|pôvodný e-mail',
  forwarded: 'preposlaná správa|preposlaný e-mail',
  forwardBegins: 'začiatok preposlanej správy',
  signed: 'odoslané z|odoslané zo|získajte outlook pre|odoslané pomocou|poslané z',
  device: 'telefónu|mobilu|tabletu|mobilného telefónu|smartfónu',
  signedWith: 'môjho|mojej|z|zo|pre|aplikácie|pošta|mail',
  closing: 's pozdravom|s úctou|ďakujem|pekný deň|zdravím',
  message: 'správa|správu|správy',
  footer: 'dôverné informácie|určená výlučne|omylom',
}

const russian: Language = {
  on: 'от|на|в|в письме от',
  quoting: 'цитирую|цитата',
  wrote: 'написал(а)|написал|написала|пишет|писал|писала|писали|написал(-а)|вы писали|пользователь',
  from: 'от|отправитель|от кого',
  sent: 'отправлено|послано|отправлен',
  date: 'дата|когда',
  to: 'кому|копия|получатель',
  subject: 'тема',
  original:
    'исходное сообщение|исходное письмо|оригинальное сообщение|оригинал сообщения|первоначальное сообщение|исходная встреча',
  forwarded:
    'пересылаемое сообщение|перенаправленное сообщение|пересылаемое письмо|пересланное сообщение|пересланное письмо|переадресованное сообщение',
  forwardBegins: 'начало переадресованного сообщения|начало пересылаемого сообщения|начало пересланного сообщения',
  replyAbove: 'напишите ответ выше этой строки|ответьте выше этой строки|отвечайте выше этой черты',
  aboveLine: 'выше этой строки|выше этой линии',
  signed:
    'отправлено с|отправлено из|отправлено со|отправлено через|получить outlook для|скачать outlook для|послано с|отправлено при помощи|отправлено мобильной|отправлено от',
  device: 'телефона|смартфона|мобильного|планшета|мобильного телефона|мобильного устройства|устройства|мобильной',
  signedWith:
    'моего|моей|с|со|из|для|на|приложения|почты|почта|почту|мобильной|мобильного|мобильных|помощи|через|устройств|версии|и',
  closing:
    'с уважением|с наилучшими пожеланиями|всего доброго|спасибо|благодарю|с приветом|всего хорошего|удачи|до встречи|заранее спасибо',
  message: 'сообщение|сообщения|письмо|письма',
  footer:
    'предназначено исключительно|конфиденциальную информацию|конфиденциальна|не являетесь адресатом|получили это сообщение по ошибке|по ошибке, пожалуйста|прежде чем распечатать|проверено на вирусы|проверено антивирусом|без вирусов',
  list: 'чтобы отписаться|отписаться от',
}

const ukrainian: Language = {
  wrote: 'пише|написав|написала|написав(ла)|написав(-ла)|пишуть',
  on: 'від',
  from: 'від|від кого|відправник',
  sent: 'надіслано|відправлено',
  date: 'дата',
  to: 'кому|копія',
  subject: 'тема',
  original: 'вихідне повідомлення|початкове повідомлення|оригінальне повідомлення',
  forwarded: 'переслане повідомлення|перенаправлене повідомлення|пересланий лист',
  forwardBegins: 'початок листа, що пересилається|початок переадресованого повідомлення',
  signed:
    'надіслано з|надіслано зі|надіслано із|відправлено з|відправлено із|надіслано за допомогою|завантажити outlook для|надіслано через|отримати outlook для',
  device: 'телефону|смартфона|смартфону|мобільного|планшета|мобільного телефону',
  signedWith: 'мого|моєї|з|із|зі|для|на|пошти|програми|додатка|застосунку|мобільної',
  closing: 'з повагою|дякую|щиро дякую|з найкращими побажаннями|гарного дня|на все добре',
  message: 'повідомлення|лист',
  footer: 'конфіденційну інформацію|помилково отримали|перевірено на віруси|без вірусів',
}

const bulgarian: Language = {
  on: 'на',
  wrote: 'написа|пише|написали',
  from: 'от|подател',
  sent: 'изпратено|изпратено на|изпратен',
  date: 'дата',
  to: 'до|копие|получател',
  subject: 'относно|тема',
  original: 'оригинално писмо|оригинално съобщение|първоначално съобщение',
  forwarded: 'препратено съобщение|препратено писмо|препратен имейл',
  signed: 'изпратено от|изпратено с|изпратено чрез',
  device: 'телефон|мобилен телефон|телефона|таблет',
  signedWith: 'моя|моят|ми|от|с|за',
  closing: 'поздрави|с уважение|благодаря|с поздрав|хубав ден',
  message: 'съобщение|писмо',
  footer: 'поверителна информация',
}

const southSlavic: Language = {
  on: 'dana|u|дана|у|v',
  wrote:
    'napisao je|napisala je|je napisao|je napisala|napisao/la|je napisao/la|piše|је написао/ла|је написао|је написала|пише|je oseba|napisala|napisal',
  from: 'šalje|od|pošiljatelj|шаље|од',
  sent: 'poslano|poslato|послато',
  date: 'datum|датум',
  to: 'za|prima|do|kome|прима|за',
  subject: 'predmet|naslov|zadeva|предмет|наслов',
  original: 'originalna poruka|izvorna poruka|izvorno sporočilo|оригинална порука|prvotno sporočilo',
  forwarded: 'proslijeđena poruka|prosleđena poruka|posredovano sporočilo|прослеђена порука',
  forwardBegins: 'započni proslijeđenu poruku|početak proslijeđene poruke|začetek posredovanega sporočila',
  signed: 'poslano s|poslano sa|poslano z|poslano iz|poslato sa|послато са',
  device: 'mobitela|telefona|telefon|мобилног',
  signedWith: 'mog|mojega|mojeg|moje|мог|a|s|iz',
  closing: 'lijep pozdrav|lp|srdačan pozdrav|s poštovanjem|pozdrav|hvala|lep pozdrav|hvala lepa|поздрав|хвала',
}

export const slavic: readonly Language[] = [polish, czech, slovak, russian, ukrainian, bulgarian, southSlavic]
