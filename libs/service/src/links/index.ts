export { acceptLink, LINK_PROTOCOL, type LinkRequest, requestLink, verifyLinkRequest } from './handshake.ts'
export { Link, type LinkOptions } from './link.ts'
export { WINDOW as CHANNEL_WINDOW } from './records.ts'
