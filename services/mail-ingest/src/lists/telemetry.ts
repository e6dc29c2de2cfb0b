import { Counter } from 'prom-client'

export const listQuestions = new Counter({
  name: 'restante_list_questions_total',
  help: 'Mails that the projection of lists blocks, by the answer of their owner: confirmed, lifted (the entry is deleted), unanswered (asked again, or judged by the projection after 5 minutes)',
  labelNames: ['outcome'],
})
for (const outcome of ['confirmed', 'lifted', 'unanswered']) listQuestions.inc({ outcome }, 0)
