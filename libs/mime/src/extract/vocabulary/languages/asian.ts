import type { Language } from './language.ts'

const chinese: Language = {
  on: '在|于|於',
  wrote: '写道|寫道|写到|寫到',
  from: '发件人|寄件者|寄件人|发信人|發件人|寄信人|发送人',
  sent: '发送时间|寄件日期|发件时间|发送日期|传送日期|傳送日期|已傳送|發送時間|發件日期|寄件時間',
  date: '日期|時間|时间',
  to: '收件人|收件者|抄送|副本|抄送人|收信人|副本抄送',
  subject: '主题|主旨|主 题|标题|主題|主 题|标 题',
  original:
    '原始邮件|邮件原件|原始郵件|原邮件|回复的原邮件|原始信息|原信息|原始訊息|回复的邮件|原始消息|转发的原邮件来自',
  forwarded:
    '转发的邮件|转发邮件|轉寄郵件|轉寄的郵件|转发的消息|轉寄的訊息|转发邮件信息|被转发邮件信息|已轉寄的郵件|轉寄訊息',
  forwardBegins: '转发的邮件|开始转发的邮件|以下是转发的邮件|以下是轉寄的郵件|轉寄的郵件',
  replyAbove: '请在此行上方回复|请在这条线以上回复|请在此行上方输入您的回复|請在此行上方回覆',
  aboveLine: '在此线上方',
  signed: '发自我的|發自我的|从我的|從我的|发送自|發送自|发自|來自|来自我的|来自|获取|取得|寄自我的',
  device: '手机|手機|平板|移动设备|行動裝置',
  signedWith:
    '传送|傳送|发送|寄出|寄|的|适用于|適用於|版|邮箱|郵箱|邮件|下载|智能|智慧型|我的|客户端|应用|移动|企业|网易|大师|使用',
  closing: '此致|此致敬礼|谢谢|祝好|顺祝商祺|謝謝|敬上|祝商祺',
  message: '邮件|郵件',
  footer:
    '本邮件及其附件含有|本邮件及附件|保密信息|仅限于发送给|如果您错收了本邮件|请勿打印|未经授权|本郵件及其附件|機密資訊|此邮件已通过',
  list: '退订|取消订阅|取消訂閱',
}

const japanese: Language = {
  wrote:
    'のメール|のメッセージ|が書きました|は書きました|さんは書きました|さんが書きました|さん wrote|からのメール|さんからのメッセージ|さんのメール|さんは次のように書きました|書き込みました',
  on: '日時',
  from: '差出人|送信者|送信元',
  sent: '送信日時|送信日|受信日時',
  date: '日付|日時',
  to: '宛先|受信者',
  subject: '件名|題名',
  original: '元のメッセージ|元のメール|元メール|オリジナルメッセージ|返信元メール',
  forwarded: '転送メッセージ|転送されたメール|転送メール|転送されたメッセージ',
  forwardBegins: '転送されたメッセージ|転送されたメール|転送されたメッセージを開始',
  replyAbove: 'このラインより上に返信を入力|この行より上に返信|この線より上に|この行より上に',
  signed: 'から送信|から送信されました|からの送信|から送信しました|を入手|を取得|で送信|より送信',
  device: '携帯|スマートフォン|携帯電話|スマホ|タブレット',
  signedWith: '私の|版|メール|アプリ|さん|より|の|を|する|しています|されました',
  closing:
    'よろしくお願いいたします|よろしくお願い致します|よろしくお願いします|宜しくお願い致します|宜しくお願いいたします|以上|敬具',
  message: 'メール',
  footer: '本メールは|機密情報|誤って受信|受信者以外|このメールに心当たり',
  list: '配信停止|登録解除',
}

const korean: Language = {
  wrote: '님이 작성|님이 작성함|작성|이(가) 쓴 글|님께서 작성|님의 말|님이 쓴 글|님이 보낸 메시지',
  on: '보낸 날짜',
  from: '보낸 사람|보낸사람|발신자|보낸이|발신',
  sent: '보낸 날짜|보낸날짜|보낸 시간|전송|발송일|보낸 일시',
  date: '날짜|일시',
  to: '받는 사람|받는사람|수신자|참조|받는이|수신',
  subject: '제목',
  original: '원본 메시지|원본 메일|원본메일|원본 메세지|원본메시지|원본 이메일',
  forwarded: '전달된 메일|전달된 메시지|전달된 이메일|전달 메시지|전달된 메세지',
  forwardBegins: '전달된 메시지|전달된 이메일|전달된 메시지 시작',
  replyAbove: '이 줄 위에 답장|이 선 위에 답변|이 줄 위에 회신',
  signed: '에서 보냄|에서 보냈습니다|에서 보내짐|에서 전송|으로 보냄|에서 발송|다운로드|가져오기|에서 보낸 메일',
  device: '휴대폰|스마트폰|핸드폰|태블릿|모바일',
  signedWith: '나의|내|제|용|메일|앱|을|를|에서|폰',
  closing: '감사합니다|드림|올림|고맙습니다|수고하세요',
  message: '메일',
  footer: '본 메일은|기밀 정보|수신인이 아닌',
  list: '수신 거부|수신거부',
}

const thai: Language = {
  on: 'ในวันที่|เมื่อ|เมื่อวันที่|วันที่',
  wrote: 'เขียนว่า|เขียน|ได้เขียนว่า',
  from: 'จาก|ผู้ส่ง',
  sent: 'ส่งเมื่อ|ส่ง',
  date: 'วันที่',
  to: 'ถึง|สำเนา',
  subject: 'เรื่อง|หัวเรื่อง|หัวข้อ',
  original: 'ข้อความต้นฉบับ|ข้อความเดิม',
  forwarded: 'ข้อความที่ส่งต่อ|ข้อความส่งต่อ',
  signed: 'ส่งจาก|ส่งมาจาก',
  device: 'โทรศัพท์|มือถือ',
  signedWith: 'ของฉัน|ของผม|สำหรับ',
}

const vietnamese: Language = {
  on: 'vào|vào ngày|ngày|lúc',
  wrote: 'đã viết|viết',
  from: 'từ|người gửi',
  sent: 'đã gửi|ngày gửi|đã gửi lúc|gửi',
  date: 'ngày',
  to: 'đến|tới|người nhận|cc',
  subject: 'chủ đề|tiêu đề',
  original: 'thư gốc|tin nhắn gốc|thư ban đầu',
  forwarded: 'thư đã chuyển tiếp|tin nhắn được chuyển tiếp|thư chuyển tiếp',
  signed: 'đã gửi từ|gửi từ|được gửi từ|tải outlook cho|được gửi bằng',
  device: 'điện thoại|máy tính bảng',
  signedWith: 'của tôi|dành cho|của|tôi',
  closing: 'trân trọng|thân mến|cảm ơn|xin cảm ơn',
}

const malay: Language = {
  on: 'pada|pada tanggal|pada hari',
  wrote: 'menulis|telah menulis',
  from: 'dari|daripada|pengirim',
  sent: 'dikirim|terkirim|dihantar',
  date: 'tanggal|tarikh',
  to: 'kepada|untuk|ke|tembusan',
  subject: 'subjek|perihal|hal',
  original: 'pesan asli|mesej asal|pesan awal',
  forwarded: 'pesan terusan|pesan yang diteruskan|mesej dimajukan',
  signed: 'dikirim dari|dihantar daripada|dihantar dari|dapatkan outlook untuk|dikirim dengan|unduh outlook untuk',
  device: 'ponsel|hp|telepon|telefon|ponsel cerdas',
  signedWith: 'saya|di|untuk|dengan|menggunakan|mail|email|bimbit|pintar',
  closing: 'hormat kami|terima kasih|salam|hormat saya|salam hormat',
}

const hindi: Language = {
  wrote: 'ने लिखा|लिखा',
  from: 'प्रेषक|से',
  sent: 'भेजा गया|भेजा',
  date: 'दिनांक|तारीख',
  to: 'प्रति|को',
  subject: 'विषय',
  original: 'मूल संदेश',
  forwarded: 'अग्रेषित संदेश|फ़ॉरवर्ड किया गया संदेश',
  signed: 'से भेजा गया',
  signedWith: 'मेरे|मेरी',
}

export const asian: readonly Language[] = [chinese, japanese, korean, thai, vietnamese, malay, hindi]
