/** Replaces names of API fields in messages with the inputs that the user typed. */
import { ApiFailure } from '../../src/client.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { shownName } from './input-values.ts'
import type { ParsedCommand } from './parsed-command.ts'

/** Fields of the API and the inputs that fill them under another name, the likeliest first. */
const INPUTS_OF_FIELDS: Readonly<Record<string, readonly string[]>> = {
  active: ['active', 'paused'],
  address: ['address', 'pool', 'distributor'],
  amount: ['amount', 'raw_amount', 'buy', 'sell', 'proof'],
  amount_locked: ['amount_locked', 'proof'],
  approver: ['squads'],
  args: ['inputs'],
  authority: ['authority', 'keypair'],
  beneficiary: ['beneficiary', 'as'],
  buy_amount: ['buy'],
  claimer: ['owner', 'payer', 'keypair'],
  collection: ['collection', 'of'],
  creator: ['creator', 'payer', 'keypair'],
  delegate: ['to'],
  enabled: ['on', 'off'],
  enabled_events: ['events'],
  entries: ['file'],
  event_ids: ['events'],
  fund: ['unfunded'],
  holders: ['from'],
  initial_supply: ['initial_supply', 'supply'],
  lamports: ['amount'],
  lamports_per_day: ['per_day'],
  lamports_per_transaction: ['per_transaction'],
  lock_duration_days: ['days'],
  lock_liquidity: ['unlocked_liquidity'],
  max_fee_lamports: ['max_fee'],
  member: ['member', 'keypair'],
  members: ['member'],
  merkle_root: ['root'],
  mint: ['mint', 'of'],
  name: ['name', 'preset'],
  new_creator: ['to'],
  new_owner: ['to'],
  owner: ['owner', 'payer', 'keypair'],
  payer: ['payer', 'keypair'],
  rate_limit_per_day: ['per_day'],
  rate_limit_per_minute: ['per_minute'],
  recipient: ['recipient', 'wallet', 'to'],
  recipients: ['file', 'from', 'to', 'id'],
  revoke_freeze_authority: ['keep_freeze_authority'],
  side: ['buy', 'sell'],
  signed_transactions: ['transaction'],
  splits: ['split', 'split_file'],
  threshold: ['threshold', 'min'],
  tokens: ['token'],
  transactions: ['transaction'],
  twitter_url: ['twitter'],
  url: ['url', 'receiver'],
  user: ['user', 'payer', 'keypair'],
  wallets: ['from', 'wallet'],
}

/** What a request sent at a path such as `splits.1.bps`; undefined if that is not known. */
type SentValue = (param: string) => unknown

const wordsOf = (typed: ParsedCommand['raw'][string]): string[] =>
  typeof typed === 'boolean' || typed === undefined ? [] : [typed].flat()
/** The values that were typed for an input. */
const valuesOf = ({ verb, raw }: ParsedCommand, key: string): string[] =>
  (verb.args[key] ?? verb.flags[key])?.kind === 'list'
    ? wordsOf(raw[key]).flatMap((word) => word.split(',').map((item) => item.trim()))
    : wordsOf(raw[key])

/** The input that fills a field of the API; if there are several, the one that was typed. */
function inputOfField(parsed: ParsedCommand, field: string, sent: unknown): string | undefined {
  const { verb, raw } = parsed
  const declared = { ...verb.args, ...verb.flags }
  const byField = Object.keys(declared).filter((key) => declared[key]?.field === field)
  const listed = Object.hasOwn(INPUTS_OF_FIELDS, field) ? (INPUTS_OF_FIELDS[field] ?? []) : []
  const candidates = [...byField, ...listed, field].filter((key) => Object.hasOwn(declared, key))
  if (typeof sent === 'string') {
    const same = (key: string) => valuesOf(parsed, key).includes(sent)
    const own = candidates.find(same)
    if (own !== undefined) return own
    // A number may be the value of several inputs by chance.
    const others = /^\d*$/.test(sent) ? [] : Object.keys(declared).filter(same)
    if (others.length === 1) return others[0]
  }
  // One that was typed as another address was not sent here; a symbol or an amount may have been converted.
  const isOther = (key: string) => typeof sent === 'string' && isAddress(sent) && valuesOf(parsed, key).some(isAddress)
  const possible = candidates.filter((key) => !isOther(key))
  return possible.find((key) => raw[key] !== undefined && raw[key] !== false) ?? possible[0]
}

/**
 * What was typed for a param such as `splits.1.bps`; undefined if no input of the command fills it. What was sent there
 * decides between inputs.
 */
export function typedForParam(parsed: ParsedCommand, param: string, sent?: SentValue): string | undefined {
  // The filter of a schedule and the extensions of a token have their own flags, as has the request that is paid for.
  const within = 'filter' in parsed.verb.flags ? /^(extensions|request)\./ : /^(filter|extensions|request)\./
  const [field = '', ...rest] = param.replace(within, '').split('.')
  const value = sent?.(param)
  const key = inputOfField(parsed, field, value)
  if (key === undefined) return undefined
  const shown = shownName(parsed.verb, key)
  const typed = valuesOf(parsed, key)
  if (typeof value === 'string' && typed.includes(value)) {
    return typed.length === 1 ? shown : `${shown} item ${typed.indexOf(value) + 1}`
  }
  const [first, ...inner] = rest
  const item = first !== undefined && /^\d+$/.test(first) ? ` item ${Number(first) + 1}` : ''
  const path = (item === '' ? rest : inner).join('.')
  return `${shown}${item}${path === '' ? '' : ` (${path})`}`
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * The API's failure with its param and the fields in its message replaced by typed words. Its envelope, which `-o
 * json` prints, is unchanged.
 */
export function inTypedWords(error: unknown, parsed: ParsedCommand | undefined): unknown {
  if (parsed === undefined || !(error instanceof ApiFailure)) return error
  const { param } = error
  const typed = (name: string) => typedForParam(parsed, name, (path) => error.sent(path))
  const shown = param === undefined ? undefined : typed(param)
  const message = withTypedNames(error.message, typed, param, shown)
  return Object.create(error, { message: { value: message }, param: { value: shown ?? param } })
}

function withTypedNames(
  message: string,
  typed: (name: string) => string | undefined,
  param: string | undefined,
  shown: string | undefined,
): string {
  const quotedFields = message.replace(/`([a-z]+(?:_[a-z0-9]+)*)`|"([a-z]+(?:_[a-z]+)+)"/g, (whole, ticked, quoted) => {
    return typed(ticked ?? quoted) ?? whole
  })
  if (param === undefined || shown === undefined) return quotedFields
  const leading = quotedFields.replace(new RegExp(`^${escaped(param)}(?=[:\\s])`), () => shown)
  // A one-word field may also be an ordinary word of the sentence.
  if (!/[_.]/.test(param)) return leading
  return leading.replace(new RegExp(`(?<![\\w.\`"<-])${escaped(param)}(?![\\w.-]*\\w)`, 'g'), () => shown)
}
