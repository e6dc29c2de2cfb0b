import { createTransport, type SendMailOptions } from 'nodemailer'

export interface Submission extends SendMailOptions {
  /** Port of the receiving server. */
  readonly port: number
  readonly host?: string
  /** Address to connect from: the client address that the server sees. */
  readonly localAddress?: string
}

/** Sends one mail by SMTP as an ordinary client would, encrypted when the server offers it. */
export async function sendMail({ port, host = '127.0.0.1', localAddress, ...mail }: Submission) {
  const transport = createTransport({
    host,
    port,
    secure: false,
    tls: { rejectUnauthorized: false },
    ...(localAddress !== undefined && { localAddress }),
  })
  try {
    return await transport.sendMail(mail)
  } finally {
    transport.close()
  }
}
