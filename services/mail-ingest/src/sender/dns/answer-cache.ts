import { LRUCache } from 'lru-cache'
import { type Answer, type Question, questionKey } from './question.ts'

export interface AnswerCacheOptions {
  readonly entries: number
  /** Characters of all records together: a hostile zone may answer with records of 64 KB. */
  readonly characters: number
}

/** Answers to DNS queries until they expire, bounded in number and size. */
export class AnswerCache {
  readonly #answers: LRUCache<string, Answer>

  constructor({ entries, characters }: AnswerCacheOptions) {
    this.#answers = new LRUCache({ max: entries, maxSize: characters, sizeCalculation: charactersOf })
  }

  get(question: Question): Answer | undefined {
    const answer = this.#answers.get(questionKey(question))
    return answer !== undefined && answer.until > Date.now() ? answer : undefined
  }

  set(question: Question, answer: Answer): void {
    this.#answers.set(questionKey(question), answer)
  }
}

function charactersOf(answer: Answer, key: string): number {
  return key.length + JSON.stringify(answer).length
}
