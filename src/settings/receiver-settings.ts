/** Reads the setting `attention-urls`: where notices go, in which form, and of which kinds. */
import { ConfigError } from '../platform/errors.ts'
import { parseUrl } from '../platform/urls.ts'
import { type Fail, fieldsOf, itemsOf, LONGEST_URL } from './endpoint-settings.ts'

/** `signed` is a webhook of svc; the others are what these services take. */
const NOTICE_FORMS = ['signed', 'slack', 'discord', 'ntfy'] as const
export type NoticeForm = (typeof NOTICE_FORMS)[number]

export interface NoticeReceiver {
  form: NoticeForm
  /** It is a secret: whoever has it can write to the channel. */
  url: string
  /** Null for every kind. */
  kinds: readonly string[] | null
}

const MOST_RECEIVERS = 8

const FORM =
  'URLs separated by commas, with slack:, discord: or ntfy: before those, or a JSON array of URLs and of { "url", "kinds" }'

/** Parses a text or the value of a JSON file. Throws ConfigError naming the setting; it repeats no URL. */
export function parseReceivers(name: string, raw: unknown, origin: string): NoticeReceiver[] {
  const fail = (what: string): never => {
    throw new ConfigError(`${name} (${origin}) ${what}`, `give ${FORM}`)
  }
  const items = itemsOf(raw) ?? fail(`must be ${FORM}`)
  if (items.length > MOST_RECEIVERS) fail(`has ${items.length} receivers; at most ${MOST_RECEIVERS} are possible`)
  const receivers = items.map((item, i) => receiverIn(item, (what) => fail(`${what} (receiver ${i + 1})`)))
  const urls = receivers.map(({ form, url }) => `${form} ${url}`)
  const again = urls.findIndex((url, i) => urls.indexOf(url) < i)
  if (again >= 0) fail(`names one URL twice (receiver ${again + 1})`)
  // `ps` shows command lines to every user of the machine.
  if (origin.startsWith('--'))
    throw new ConfigError(`${name} (${origin}) could be read by other users`, 'set SVC_ATTENTION_URLS instead')
  return receivers
}

function receiverIn(item: unknown, fail: Fail): NoticeReceiver {
  if (typeof item === 'string') return { ...placeIn(item, fail), kinds: null }
  const { url, form = 'signed', kinds = null, ...others } = fieldsOf(item, fail)
  if (Object.keys(others).length > 0) fail('has a field other than url, form and kinds')
  if (!NOTICE_FORMS.includes(form as NoticeForm)) fail(`has a form other than ${NOTICE_FORMS.join(', ')}`)
  const isList = Array.isArray(kinds) && kinds.length > 0 && kinds.every((kind) => /^[a-z_]{1,40}$/.test(String(kind)))
  if (kinds !== null && !isList) fail('has kinds that are not a list of names like node_behind')
  return { ...placeIn(form === 'signed' ? url : `${form}:${url}`, fail), kinds: kinds as string[] | null }
}

function placeIn(text: unknown, fail: Fail): Pick<NoticeReceiver, 'form' | 'url'> {
  const [, prefix, url = ''] = /^(?:(slack|discord|ntfy):)?(https?:\/\/.*)$/.exec(String(text)) ?? []
  const parsed = parseUrl(url)
  if (parsed === undefined) return fail('is not an http or https URL, alone or after slack:, discord: or ntfy:')
  if (url.length > LONGEST_URL) fail(`has more than ${LONGEST_URL} characters`)
  if (prefix === 'ntfy' && !/^\/[\w-]{1,64}$/.test(parsed.pathname)) fail('is not a server of ntfy with one topic')
  return { form: (prefix as NoticeForm | undefined) ?? 'signed', url }
}
