/** The bodies of notices: signed JSON, or what Slack, Discord and ntfy take. */
import type { AttentionItem } from '../../../api/attention.ts'
import { isoTime } from '../../../platform/timing.ts'
import type { NoticeForm } from '../../../settings/receiver-settings.ts'

/** Numbers of items by kind. */
export type Counts = Readonly<Record<string, number>>

/** One item that has begun or is over, or many at once. */
export type Notice =
  | { type: 'attention.began' | 'attention.ended'; item: AttentionItem }
  | { type: 'attention.digest'; began: Counts; ended: Counts }

interface NoticeTarget {
  form: NoticeForm
  url: string
  /** Public address of this service without a slash at its end; undefined if it has none. */
  root: string | undefined
  now: number
}

/** Where a notice is posted, and its body. */
export function noticeRequest(notice: Notice, { form, url, root, now }: NoticeTarget): { url: string; body: string } {
  if (form === 'signed') {
    const { type, ...data } = notice
    const shown = 'item' in data ? { ...data.item, url: linkOf(notice, root) } : data
    return { url, body: JSON.stringify({ type, timestamp: isoTime(now), data: shown }) }
  }
  const told = wordsOf(notice)
  const link = linkOf(notice, root)
  if (form === 'ntfy') return ntfyRequest(url, { ...told, isOver: notice.type === 'attention.ended', link })
  const lines = [`${told.title} ${told.text}`, told.command, link].filter((line) => line !== null)
  const text = lines.map(CLEAN[form]).join('\n')
  const body =
    form === 'slack'
      ? { text, mrkdwn: false }
      : { content: text.slice(0, DISCORD_MOST), allowed_mentions: { parse: [] } }
  return { url, body: JSON.stringify(body) }
}

/** Longest message of Discord in characters. */
const DISCORD_MOST = 2_000

/** A text may have names of strangers: nothing in it is markup, a mention, or the text of a link. */
const CLEAN = {
  // https://docs.slack.dev/messaging/formatting-message-text: three characters are escaped.
  slack: (line: string) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  // A link of our own stays one.
  discord: (line: string) => (/^https?:\/\/\S+$/.test(line) ? line : line.replace(/[\\*_~`|<>[\]()#@]/g, '\\$&')),
} as const

const linkOf = (notice: Notice, root: string | undefined): string | null =>
  root === undefined ? null : `${root}${'item' in notice ? notice.item.page : '/console'}`

function wordsOf(notice: Notice): { title: string; text: string; command: string | null } {
  if ('item' in notice) {
    const { summary: text, command } = notice.item
    return notice.type === 'attention.ended'
      ? { title: 'Over:', text, command: null }
      : { title: 'Needs you:', text, command }
  }
  const parts = [
    ...(total(notice.began) === 0 ? [] : [`${total(notice.began)} began (${listed(notice.began)})`]),
    ...(total(notice.ended) === 0 ? [] : [`${total(notice.ended)} are over (${listed(notice.ended)})`]),
  ]
  return { title: 'Many at once:', text: `${parts.join(', ')}.`, command: 'svc attention list' }
}

const total = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const listed = (counts: Counts) =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')

interface NtfyText {
  title: string
  text: string
  command: string | null
  isOver: boolean
  link: string | null
}

/** https://docs.ntfy.sh/publish/#publish-as-json: the topic is in the body, and the URL is that of the server. */
function ntfyRequest(text: string, { title, text: message, command, isOver, link }: NtfyText) {
  const url = new URL(text)
  const topic = url.pathname.slice(1)
  url.pathname = '/'
  const body = {
    topic,
    title: title.replace(/:$/, ''),
    message: command === null ? message : `${message}\n${command}`,
    tags: [isOver ? 'white_check_mark' : 'warning'],
    ...(link === null ? {} : { click: link }),
  }
  return { url: url.href, body: JSON.stringify(body) }
}
