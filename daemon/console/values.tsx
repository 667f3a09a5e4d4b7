/** Shows values of records: each kind in one way, and text from strangers clean. */
import type { Child } from 'hono/jsx'
import { printable } from '../../src/platform/printable.ts'
import { linkTo } from './view.ts'

/** The longest text that is shown; the rest is in the answer of the API. */
const LONGEST = 20_000
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
/** Ids, addresses, signatures and hashes, which are read character by character. */
const CODE = /^(?:[a-z]{2,4}_[0-9A-Za-z]{16,}|[1-9A-HJ-NP-Za-km-z]{32,88}|[0-9a-f]{32,}|(?:https?|ipfs|ar):\S+)$/

/** Fields whose value has a page of its own. */
const PAGES: Readonly<Record<string, string>> = {
  pool: '/console/launches/',
  pool_address: '/console/launches/',
  airdrop_id: '/console/airdrops/',
  proposal_id: '/console/proposals/',
  signature: '/console/transactions/',
  subscription_id: '/console/webhooks/',
  schedule_id: '/console/signer/schedules/',
  mint: '/console/tokens/',
  asset: '/console/tokens/nfts/',
}

const ACRONYMS: Readonly<Record<string, string>> = {
  api: 'API',
  id: 'ID',
  ip: 'IP',
  ips: 'IPs',
  ms: 'ms',
  nft: 'NFT',
  rpc: 'RPC',
  sol: 'SOL',
  uid: 'UID',
  uri: 'URI',
  url: 'URL',
}

/** The name of a field as people read it: `api_key_id` → `API key ID`. */
export function wordsOf(field: string): string {
  const words = field.split('_').map((word) => ACRONYMS[word] ?? word)
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Text that others wrote, bounded, with everything invisible escaped. */
export const clean = (text: string): string => printable(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** A time in UTC; a narrow column breaks between date and time alone. */
export const Time = ({ at }: { at: string }) => (
  <time datetime={at}>
    <span>{at.slice(0, 10)}</span> <span>{at.slice(11, 19)} UTC</span>
  </time>
)

/** Text with its line breaks, for example a body; a long one scrolls unless it is to be seen whole. */
export const Block = ({ text, isWhole = false }: { text: string; isWhole?: boolean }) => (
  <pre tabindex={0} class={isWhole ? 'whole' : undefined}>
    {text.split(/\r?\n/).map(clean).join('\n')}
  </pre>
)

/** A text with a button that copies it, for example a command. */
export const Copyable = ({ text }: { text: string }) => (
  <pre tabindex={0} data-copy>
    {clean(text)}
  </pre>
)

interface ValueProps {
  /** The field, which may have a page for its values. */
  name: string
  value: unknown
}

export function Value({ name, value }: ValueProps): Child {
  const isEmpty = value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  if (isEmpty) return <span class="none">–</span>
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' || typeof value === 'bigint') return <span class="number">{String(value)}</span>
  if (typeof value === 'string') return <TextValue name={name} text={value} />
  if (!Array.isArray(value)) return <Fields record={value as object} />
  if (value.every((item) => typeof item !== 'object')) return value.map((item) => clean(String(item))).join(', ')
  return (
    <ol>
      {value.map((item) => (
        <li>
          <Value name={name} value={item} />
        </li>
      ))}
    </ol>
  )
}

function TextValue({ name, text }: { name: string; text: string }): Child {
  if (TIME.test(text)) return <Time at={text} />
  const page = PAGES[name]
  if (page !== undefined) {
    return (
      <a class="code" href={linkTo(`${page}${encodeURIComponent(text)}`)}>
        {clean(text)}
      </a>
    )
  }
  if (text.includes('\n')) return <Block text={text} />
  return CODE.test(text) ? <span class="code">{clean(text)}</span> : clean(text)
}

/** The one component for a record: each field with its value, nested records inside. */
export const Fields = ({ record, only }: { record: object; only?: readonly string[] }) => (
  <dl>
    {Object.entries(record)
      .filter(([name]) => only === undefined || only.includes(name))
      .map(([name, value]) => (
        <div>
          <dt>{wordsOf(clean(name))}</dt>
          <dd>
            <Value name={name} value={value} />
          </dd>
        </div>
      ))}
  </dl>
)

/** What a cell of CSV has of a value. */
export function plainText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
