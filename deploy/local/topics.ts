/** Placeholder until libs/messaging exports its command. */
export async function prepareTopics(_brokers: string): Promise<void> {}
