/** Replaces names of API fields in messages with the inputs that the user typed. */
import { ApiError } from '../../src/platform/errors.ts'
import { shownName } from './input-values.ts'
import type { ParsedCommand } from './parsed-command.ts'

/** Fields of the API and the inputs that fill them under another name, the likeliest first. */
const INPUTS_OF_FIELDS: Readonly<Record<string, readonly string[]>> = {
  active: ['active', 'paused'],
  address: ['address', 'pool', 'distributor'],
  amount: ['amount', 'raw_amount', 'buy', 'sell'],
  args: ['inputs'],
  authority: ['authority', 'keypair'],
  beneficiary: ['beneficiary', 'as'],
  buy_amount: ['buy'],
  claimer: ['owner', 'payer', 'keypair'],
  creator: ['creator', 'payer', 'keypair'],
  enabled_events: ['events'],
  entries: ['file'],
  event_ids: ['events'],
  initial_supply: ['initial_supply', 'supply'],
  lamports_per_day: ['per_day'],
  lamports_per_transaction: ['per_transaction'],
  lock_duration_days: ['days'],
  lock_liquidity: ['unlocked_liquidity'],
  max_fee_lamports: ['max_fee'],
  merkle_root: ['root'],
  name: ['name', 'preset'],
  new_creator: ['to'],
  new_owner: ['to'],
  owner: ['owner', 'payer', 'keypair'],
  payer: ['payer', 'keypair'],
  rate_limit_per_day: ['per_day'],
  rate_limit_per_minute: ['per_minute'],
  recipients: ['file'],
  revoke_freeze_authority: ['keep_freeze_authority'],
  splits: ['split', 'split_file'],
  threshold: ['threshold', 'min'],
  tokens: ['token'],
  twitter_url: ['twitter'],
  url: ['url', 'receiver'],
  user: ['user', 'payer', 'keypair'],
}

/** The input that fills a field of the API; if there are several, the one that was typed. */
function inputOfField({ verb, raw }: ParsedCommand, field: string): string | undefined {
  const declared = { ...verb.args, ...verb.flags }
  const byField = Object.keys(declared).filter((key) => declared[key]?.field === field)
  const listed = Object.hasOwn(INPUTS_OF_FIELDS, field) ? (INPUTS_OF_FIELDS[field] ?? []) : []
  const candidates = [...byField, ...listed, field].filter((key) => Object.hasOwn(declared, key))
  return candidates.find((key) => raw[key] !== undefined && raw[key] !== false) ?? candidates[0]
}

/** What was typed for a param such as `splits.1.bps`; undefined if no input of the command fills it. */
export function typedForParam(parsed: ParsedCommand, param: string): string | undefined {
  // The filter of a schedule and the extensions of a token have their own flags.
  const [field = '', ...rest] = param.replace(/^(filter|extensions)\./, '').split('.')
  const key = inputOfField(parsed, field)
  if (key === undefined) return undefined
  const [first, ...inner] = rest
  const item = first !== undefined && /^\d+$/.test(first) ? ` item ${Number(first) + 1}` : ''
  const path = (item === '' ? rest : inner).join('.')
  return `${shownName(parsed.verb, key)}${item}${path === '' ? '' : ` (${path})`}`
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * The API's failure with its param and the fields in its message replaced by typed words. Its envelope, which `-o
 * json` prints, is unchanged.
 */
export function inTypedWords(error: unknown, parsed: ParsedCommand | undefined): unknown {
  if (parsed === undefined || !(error instanceof ApiError) || !('envelope' in error)) return error
  const { param } = error
  const shown = param === undefined ? undefined : typedForParam(parsed, param)
  const message = withTypedNames(error.message, parsed, param, shown)
  return Object.create(error, { message: { value: message }, param: { value: shown ?? param } })
}

function withTypedNames(message: string, parsed: ParsedCommand, param: string | undefined, shown: string | undefined) {
  const quotedFields = message.replace(/`([a-z]+(?:_[a-z0-9]+)*)`|"([a-z]+(?:_[a-z]+)+)"/g, (whole, ticked, quoted) => {
    const typed = typedForParam(parsed, ticked ?? quoted)
    return typed === undefined ? whole : typed
  })
  if (param === undefined || shown === undefined) return quotedFields
  const leading = quotedFields.replace(new RegExp(`^${escaped(param)}(?=[:\\s])`), () => shown)
  // A one-word field may also be an ordinary word of the sentence.
  if (!/[_.]/.test(param)) return leading
  return leading.replace(new RegExp(`(?<![\\w.\`"<-])${escaped(param)}(?![\\w.-]*\\w)`, 'g'), () => shown)
}
