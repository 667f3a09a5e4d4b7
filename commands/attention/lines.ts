/** What needs a person, one line for each item, with the command that deals with it. */
import type { AttentionItem } from '../../src/api/attention.ts'
import type { AttentionKind } from '../../src/api/attention-kinds.ts'
import type { Session } from '../cli/session.ts'

export const attentionLines = (items: readonly AttentionItem[]): string[] =>
  items.map(({ summary, command }) => `${summary} Next: \`${command}\``)

interface Read {
  items: AttentionItem[]
  hasMore: boolean
  /** Why the list could not be read; null if it was. */
  fault: string | null
}

/** The oldest hundred that are not snoozed. */
export async function readAttention({ client }: Pick<Session, 'client'>, kind?: AttentionKind): Promise<Read> {
  const query = { limit: '100', ...(kind === undefined ? {} : { kind }) }
  try {
    const { data, meta } = await client.attention.list(query)
    return { items: data, hasMore: meta.has_more, fault: null }
  } catch (error) {
    return { items: [], hasMore: false, fault: error instanceof Error ? error.message : String(error) }
  }
}

/** The lines for refused fee schedules. */
export async function refusedSchedules(session: Pick<Session, 'client'>, ids: readonly string[]): Promise<string[]> {
  const { items } = await readAttention(session, 'schedule_stopped')
  return attentionLines(items.filter(({ subject }) => ids.includes(subject.id)))
}
