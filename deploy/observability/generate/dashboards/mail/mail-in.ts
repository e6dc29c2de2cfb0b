import { dashboard } from '../../frame.ts'
import { graph, tile } from '../../panels.ts'
import { largest, perSecond, quantile, quantiles, share, total } from '../../queries.ts'
import { acceptedMail } from '../stages.ts'

/** From the connection of a mail server to the message in its mailbox. */
export const mailIn = dashboard({
  name: 'mail-in',
  title: 'Mail in',
  description: 'From the connection of a mail server to the message in its mailbox.',
  rows: [
    {
      title: 'Is it keeping up?',
      panels: [
        tile({
          title: 'Oldest accepted mail',
          description: 'Age of the oldest accepted mail that is not processed. Good: below a second or two.',
          ...acceptedMail,
        }),
        tile({
          title: 'Accepted mails that wait',
          description:
            'Mails in the queues of the pipelines. Good: near 0; it may jump with a burst and must fall again.',
          unit: 'short',
          queries: [{ expr: largest('restante_mail_queue_waiting'), legend: 'waiting' }],
          limits: { orange: 1000, red: 20000 },
          runbooks: ['RestanteMailPipelineLate'],
        }),
        tile({
          title: 'Mails that we defer',
          description:
            'Share of the mails that are answered 451 because of a failure here. Good: 0. Other servers try again, so nothing is lost, but mail is late.',
          unit: 'percentunit',
          queries: [
            {
              expr: share(
                perSecond('restante_smtp_mails_total', { labels: 'outcome=~"deferred|failed"' }),
                perSecond('restante_smtp_mails_total'),
              ),
              legend: 'deferred',
            },
          ],
          limits: { orange: 0.001, red: 0.01 },
          runbooks: ['RestanteMailNotAccepted'],
        }),
        tile({
          title: 'Acceptance to mailbox, 95 %',
          description: 'Time within which 95 of 100 accepted mails are stored. Good: below a second.',
          unit: 's',
          queries: [{ expr: quantile(0.95, 'restante_mail_latency_seconds'), legend: '95 %' }],
          limits: { orange: 5, red: 60 },
          runbooks: ['RestanteMailPipelineLate'],
        }),
      ],
    },
    {
      title: 'SMTP',
      panels: [
        graph({
          title: 'Mails by answer',
          description:
            'How the mails that clients send are answered at their end. deferred and failed are failures here; too_large, loop and smuggling are those of the sender.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_smtp_mails_total', { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteMailNotAccepted'],
        }),
        graph({
          title: 'Recipients by answer',
          description:
            'How RCPT is answered. unknown and unknown_domain are mail to nobody; limited is beyond a rate or quota; deferred is a failure here.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_smtp_recipients_total', { by: 'outcome' }), legend: '{{outcome}}' }],
          runbooks: ['RestanteMailDeferred'],
        }),
        graph({
          title: 'Replies by code',
          description:
            'All replies to SMTP commands. Good: nearly all 2xx and 3xx. 421 closes a session: too slow, too many commands, or a restart.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_smtp_answers_total', { by: 'code' }), legend: '{{code}}' }],
        }),
        graph({
          title: 'Connections',
          description:
            'Open connections of all SMTP servers, new ones, and those refused because one client had too many.',
          unit: 'short',
          queries: [
            { expr: total('restante_smtp_connections'), legend: 'open' },
            {
              expr: perSecond('restante_smtp_sessions_total', { labels: 'outcome="admitted"' }),
              legend: 'new per second',
            },
            {
              expr: perSecond('restante_smtp_sessions_total', { labels: 'outcome="limited"' }),
              legend: 'refused per second',
            },
          ],
          runbooks: ['RestanteConnectionsRefused'],
        }),
        graph({
          title: 'Deferred by a rate or quota',
          description:
            'Mails, recipients and internal hand-overs beyond a limit, by limit. A single limit that grows points at one sender or one organization.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_inbound_limited_total', { by: 'limit' }), legend: '{{limit}}' }],
          runbooks: ['RestanteMailDeferred'],
        }),
        graph({
          title: 'Object store',
          description:
            'Time of the operations at the object store, 95 of 100. put_stream includes the wait for the sender. Good: below 0.1 s for a directory, below 0.5 s for S3.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.95, 'restante_blob_seconds', { by: 'operation', labels: 'service=~"mail-ingest.*"' }),
              legend: '{{operation}}',
            },
          ],
          runbooks: ['RestanteBlobStoreFailing'],
        }),
      ],
    },
    {
      title: 'Pipeline',
      panels: [
        graph({
          title: 'Attempts by outcome',
          description:
            'stored is the good end; the others are reasons why a mail was not stored. outage and failed are tried again, overdue moves to the slow lane.',
          unit: 'ops',
          stacked: true,
          queries: [{ expr: perSecond('restante_mail_attempts_total', { by: 'outcome' }), legend: '{{outcome}}' }],
        }),
        graph({
          title: 'Acceptance to mailbox',
          description: 'Time from the 250 of SMTP to the commit that stores the mail.',
          unit: 's',
          queries: quantiles([0.5, 0.95, 0.99], 'restante_mail_latency_seconds'),
        }),
        graph({
          title: 'Queue',
          description:
            'Accepted mails that wait for a pipeline, and mails that wait because DNS failed for their sender. Good: the first near 0; the second grows when a large sender, or the resolver here, has trouble.',
          unit: 'short',
          queries: [
            { expr: largest('restante_mail_queue_waiting'), legend: 'wait for a pipeline' },
            { expr: largest('restante_mail_waiting'), legend: 'wait for DNS' },
          ],
          runbooks: ['RestanteMailWaitsForDns'],
        }),
        graph({
          title: 'Scans for viruses',
          description:
            'Scans by outcome. failed and unavailable are repeated: mail waits as long as clamd does not answer. too_large and unscannable pass without a scan.',
          unit: 'ops',
          stacked: true,
          queries: [
            {
              expr: perSecond('restante_virus_scans_total', { by: 'outcome', labels: 'service=~"mail-ingest.*"' }),
              legend: '{{outcome}}',
            },
          ],
          runbooks: ['RestanteVirusScannerDown'],
        }),
        graph({
          title: 'Search and texts of attachments',
          description:
            'Messages that search does not find yet, and attachments whose text is not read. Good: near 0. They are late by design, and never hold up mail.',
          unit: 'short',
          queries: [
            { expr: largest('restante_search_unindexed'), legend: 'not searchable' },
            { expr: largest('restante_documents_waiting'), legend: 'texts not read' },
          ],
        }),
        graph({
          title: 'Blocked by a list: asked again',
          description: 'Mails that a block list stops, by the answer of the owner of lists. Good: confirmed.',
          unit: 'ops',
          queries: [{ expr: perSecond('restante_list_questions_total', { by: 'outcome' }), legend: '{{outcome}}' }],
        }),
      ],
    },
    {
      title: 'Purges',
      panels: [
        graph({
          title: 'Oldest deletion that is not purged',
          description:
            'Time since the deletion of an inbox or organization whose data is still there, by service. Good: minutes; large mailboxes take longer.',
          unit: 's',
          width: 24,
          queries: [
            {
              expr: largest('restante_purges_oldest_seconds', { by: 'service, of' }),
              legend: '{{service}} {{of}}',
            },
          ],
          runbooks: ['RestantePurgesLate'],
        }),
      ],
    },
  ],
})
