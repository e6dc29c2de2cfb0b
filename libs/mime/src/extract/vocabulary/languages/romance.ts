import type { Language } from './language.ts'

const french: Language = {
  on: 'le|en date du|en date de|à la date du',
  wrote: 'a écrit|écrit|à écrit|a ecrit|nous a dit|a répondu',
  from: 'de|expéditeur',
  sent: "envoyé|envoyé le|message du|date d'envoi|envoyée",
  date: 'date',
  to: 'à|a|pour|copie à|destinataire|copie',
  subject: 'objet|sujet',
  original:
    "message d'origine|message original|mail original|courriel original|message initial|message de réponse|rendez-vous d'origine",
  forwarded: 'message transféré|message réexpédié|message transmis|courriel transféré|mail transféré|message renvoyé',
  forwardBegins: 'début du message réexpédié|début du message transféré|début du message renvoyé',
  replyAbove:
    'veuillez saisir votre réponse au-dessus de cette ligne|répondre au-dessus de cette ligne|merci de répondre au-dessus de cette ligne',
  aboveLine: 'au-dessus de cette ligne|au dessus de cette ligne',
  signed:
    'envoyé de|envoyé depuis|envoyé avec|envoyé à partir de|envoyé à partir d|envoyé par|envoyé via|télécharger outlook pour|obtenir outlook pour|obtenez outlook pour|provenance|provenance :|envoyé d|envoyé sur',
  device: 'téléphone|mobile|portable|smartphone|tablette|appareil|téléphone mobile|appareil mobile',
  signedWith:
    "mon|ma|un|une|de|du|depuis|avec|pour|sur|l'application|application|courrier|mail|e-mail|messagerie|courriel|à partir|via|la|le|et|mobile|veuillez excuser ma brièveté|veuillez excuser la brièveté",
  closing:
    "cordialement|bien cordialement|très cordialement|bien à vous|bien à toi|sincères salutations|salutations|amicalement|merci|cdlt|cdt|bonne journée|bonne réception|merci d'avance|avec mes remerciements|à bientôt",
  message: 'message|courriel|mél',
  footer:
    "si vous avez reçu ce message par erreur|l'intention exclusive de|sont confidentiels|est confidentiel|peut contenir des informations confidentielles|si vous n'êtes pas le destinataire|exclusif de ses destinataires|pensez à l'environnement|avant d'imprimer|n'imprimez ce|l'absence de virus|sans virus|ce message et toutes les pièces jointes|ce message et ses pièces jointes|ce courriel et",
  list: 'pour vous désabonner|pour vous désinscrire|se désabonner',
}

const spanish: Language = {
  on: 'el|con fecha|en',
  wrote: 'escribió|escribio|escribe|ha escrito',
  quoting: 'citando|citando a|mensaje citado por',
  from: 'de|remitente',
  sent: 'enviado|enviado el|enviada el|enviado en|enviado a las',
  date: 'fecha',
  to: 'para|cc|destinatario|a',
  subject: 'asunto|ref|tema',
  original: 'mensaje original|correo original|mensaje de origen|cita original|mensaje de respuesta',
  forwarded: 'mensaje reenviado|correo reenviado|reenviado por',
  forwardBegins: 'inicio del mensaje reenviado|comienzo del mensaje reenviado',
  replyAbove: 'escriba su respuesta por encima de esta línea|responda por encima de esta línea',
  aboveLine: 'por encima de esta línea|encima de esta línea',
  signed:
    'enviado desde|enviado por|enviado con|enviado vía|enviado via|obtener outlook para|obtenga outlook para|descargar outlook para|enviado a través de|enviado de',
  device: 'teléfono|móvil|celular|smartphone|tableta|tablet|dispositivo|dispositivo móvil|teléfono móvil',
  signedWith: 'mi|un|una|desde|con|de|para|en|el|la|app|aplicación|correo|mail|vía|via|por|móvil|y',
  closing:
    'un saludo|saludos|saludos cordiales|un cordial saludo|cordialmente|atentamente|atte|muchas gracias|gracias|un abrazo|saludos y gracias|gracias de antemano',
  message: 'correo|mensaje',
  footer:
    'aviso legal|dirigidos exclusivamente|dirigido exclusivamente|información confidencial|si usted no es el destinatario|si no es usted el destinatario|recibido este mensaje por error|recibido este correo por error|antes de imprimir|libre de virus|comprobado si',
  list: 'para darse de baja|cancelar la suscripción|dejar de recibir',
}

const portuguese: Language = {
  on: 'em|no dia|a|às',
  wrote: 'escreveu|escreve|escreveu o seguinte',
  from: 'de|remetente',
  sent: 'enviado|enviada|enviado em|enviada em|enviado a|data de envio',
  date: 'data',
  to: 'para|cc|destinatário',
  subject: 'assunto',
  original: 'mensagem original|e-mail original|mensagem de origem|compromisso original|mensagem de resposta',
  forwarded: 'mensagem encaminhada|mensagem reencaminhada|e-mail encaminhado|encaminhado por',
  forwardBegins: 'início da mensagem encaminhada|início da mensagem reencaminhada|começo da mensagem encaminhada',
  replyAbove:
    'digite sua resposta acima desta linha|responda acima desta linha|escreva a sua resposta acima desta linha',
  aboveLine: 'acima desta linha',
  signed:
    'enviado do|enviado da|enviado de|enviado a partir do|enviado a partir de|enviado pelo|enviado via|enviado através do|obter o outlook para|obter outlook para|obtenha o outlook para|baixar o outlook para|enviado com',
  device: 'telefone|telemóvel|celular|smartphone|tablet|dispositivo|aparelho|dispositivo móvel',
  signedWith: 'meu|minha|um|uma|do|da|de|no|na|o|para|com|em|app|aplicativo|e-mail|email|mail|correio|via|partir|a',
  closing:
    'atenciosamente|cordialmente|com os melhores cumprimentos|cumprimentos|melhores cumprimentos|abraço|abraços|obrigado|obrigada|muito obrigado|muito obrigada|att|atte|grato|grata|saudações',
  message: 'mensagem',
  footer:
    'destina-se exclusivamente|informação confidencial|informações confidenciais|se você não é o destinatário|se não for o destinatário|recebeu esta mensagem por engano|antes de imprimir|pense no meio ambiente|livre de vírus|verificado por vírus',
  list: 'cancelar a inscrição|deixar de receber',
}

const italian: Language = {
  on: 'il|il giorno|in data|addì',
  wrote: 'ha scritto|scrive|ha scritto quanto segue|scriveva|scritto',
  from: 'da|mittente',
  sent: 'inviato|inviato il|data invio|inviata',
  date: 'data',
  to: 'a|cc|destinatario|per conoscenza',
  subject: 'oggetto|ogg',
  original: 'messaggio originale|messaggio originario|mail originale|appuntamento originale|messaggio di risposta',
  forwarded: 'messaggio inoltrato|messaggio inoltrata|inoltrato da',
  forwardBegins: 'inizio messaggio inoltrato|inizio del messaggio inoltrato',
  replyAbove: 'digita la tua risposta sopra questa riga|rispondi sopra questa riga',
  aboveLine: 'sopra questa riga|sopra questa linea',
  signed:
    'inviato da|inviato dal|inviato dallo|inviato con|inviato tramite|inviato via|scarica outlook per|ottieni outlook per|inviato dalla|inviato mediante',
  device: 'telefono|cellulare|smartphone|tablet|dispositivo|dispositivo mobile|telefonino',
  signedWith: 'il|mio|mia|la|un|da|dal|con|per|su|posta|mail|e-mail|app|tramite|via|mobile',
  closing:
    'cordiali saluti|distinti saluti|saluti|un saluto|un cordiale saluto|cordialmente|grazie|grazie mille|a presto|buona giornata|buon lavoro|ringraziando',
  message: 'messaggio|messaggi',
  footer:
    "destinatario indicato|destinatari indicati|informazioni riservate|informazioni confidenziali|ricevuto per errore|ricevuto questo messaggio per errore|avviso di riservatezza|prima di stampare|rispetta l'ambiente|privo di virus|priva di virus",
  list: "per cancellarti|annullare l'iscrizione",
  company: 'ai sensi del',
}

const romanian: Language = {
  on: 'în|in|pe|la data de|în data de',
  wrote: 'a scris|scrie',
  from: 'de la|expeditor|expeditorul',
  sent: 'trimis|trimis la',
  date: 'data|dată',
  to: 'către|catre|destinatar|destinatarul|la',
  subject: 'subiect|subiectul',
  original: 'mesaj original|mesajul original|mesaj inițial',
  forwarded: 'mesaj redirecționat|mesaj transmis mai departe|mesaj retrimis',
  forwardBegins: 'începe mesajul redirecționat|începutul mesajului redirecționat',
  replyAbove: 'răspundeți deasupra acestei linii',
  aboveLine: 'deasupra acestei linii',
  signed: 'trimis de pe|trimis din|trimis de la|trimis cu|obțineți outlook pentru|trimis prin',
  device: 'telefon|telefonul|mobil|smartphone|tabletă|tableta|dispozitiv',
  signedWith: 'meu|mea|meu|de|pe|din|ul|cu|pentru|mail',
  closing: 'cu stimă|cu respect|o zi bună|numai bine|mulțumesc|toate cele bune|salutări',
  message: 'mesaj|mesajul',
  footer: 'destinatarul vizat|informații confidențiale|din greșeală',
}

const catalan: Language = {
  on: 'el|el dia|o',
  wrote: 'va escriure|ha escrit|escribiu',
  quoting: 'missatge de|citant a',
  from: 'de',
  sent: 'enviat|enviat el',
  date: 'data',
  to: 'per a|a',
  subject: 'assumpte|tema',
  original: 'missatge original',
  forwarded: 'missatge reenviat',
  signed: 'enviat des de|enviat des del',
  signedWith: 'el|meu|del',
  closing: 'salutacions|atentament|gràcies',
}

export const romance: readonly Language[] = [french, spanish, portuguese, italian, romanian, catalan]
