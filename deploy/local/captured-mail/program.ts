import maildev from 'maildev'
import web from 'maildev/lib/web.js'
import { restrictToOwnPage } from './own-page.ts'

const [smtp, port, mailDirectory = ''] = process.argv.slice(2)
const loopback = '127.0.0.1'
maildev({ ip: loopback, smtp: Number(smtp), webIp: loopback, web: Number(port), mailDirectory }).listen()
// In the same turn of the event loop as its first listener: no request has arrived yet.
if (!web.server) throw new Error('MailDev has no web server')
restrictToOwnPage(web.server, Number(port))
