/** What needs a person, one line for each item, with the command that deals with it. */
import type { AttentionItem } from '../../src/api/attention.ts'
import type { AttentionKind } from '../../src/api/attention-kinds.ts'
import type { Session } from '../cli/session.ts'

export const attentionLines = (items: readonly AttentionItem[]): string[] =>
  items.map(({ summary, command }) => `${summary} Next: \`${command}\``)

/** The oldest hundred that are not snoozed; none if the API may not be asked, or is of a version without them. */
export async function readAttention(
  { client }: Pick<Session, 'client'>,
  kind?: AttentionKind,
): Promise<{ items: AttentionItem[]; hasMore: boolean }> {
  const query = { limit: '100', ...(kind === undefined ? {} : { kind }) }
  const answer = await client.attention.list(query).catch(() => null)
  return { items: answer?.data ?? [], hasMore: answer?.meta.has_more ?? false }
}

/** The lines for refused fee schedules. */
export async function refusedSchedules(session: Pick<Session, 'client'>, ids: readonly string[]): Promise<string[]> {
  const { items } = await readAttention(session, 'schedule_stopped')
  return attentionLines(items.filter(({ subject }) => ids.includes(subject.id)))
}
