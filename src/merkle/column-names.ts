/**
 * The names of columns that lists have, and what each says about a row: one table for airdrops, sends, token acts,
 * locks and NFTs, in CSV and JSON. docs/lists.md is made from it.
 */

/** What a column is for if the command does not read it: it decides something about its row, or it is harmless. */
type ColumnWeight = 'decides' | 'harmless'

interface KnownColumn {
  weight: ColumnWeight
  /** What it says about a row, for messages and docs. */
  says: string
  /** Letter case, spaces, hyphens, underscores and brackets do not count. */
  names: readonly string[]
  /** Words that give an unknown name this meaning, such as `lock` in `lockExpiry`. */
  words?: readonly string[]
}

const known = <K extends string>(table: Record<K, KnownColumn>) => table

export const COLUMN_NAMES = known({
  wallet: {
    weight: 'decides',
    says: 'who receives',
    names: [
      ...['wallet', 'address', 'pubkey', 'claimant', 'recipient', 'owner', 'holder', 'wallet address', 'account'],
      ...['public key', 'solana address', 'solana wallet', 'solana wallet address', 'sol address', 'sol wallet'],
      ...['recipient address', 'recipient wallet', 'owner address', 'holder address', 'user wallet', 'user address'],
      ...['beneficiary', 'receiver', 'receiver address', 'destination', 'to', 'to address', 'payee'],
    ],
  },
  amount: {
    weight: 'decides',
    says: 'how much',
    names: [
      ...['amount', 'amount unlocked', 'quantity', 'balance', 'allocation', 'tokens', 'token amount', 'amount to send'],
      ...['airdrop', 'airdrop amount', 'qty', 'reward', 'rewards', 'reward amount', 'claimable', 'claimable amount'],
      ...['tokens to send', 'number of tokens', 'amount of tokens', 'total amount', 'total tokens', 'payout'],
      ...['ui amount', 'ui amount string', 'amount raw', 'raw amount', 'base units', 'amount lamports', 'lamports'],
    ],
  },
  locked: {
    weight: 'decides',
    says: 'how much of it vests',
    names: ['amount locked', 'locked amount', 'locked'],
  },
  round: {
    weight: 'decides',
    says: 'in which round of a raise a wallet may buy',
    names: ['raise round', 'presale round'],
  },
  name: { weight: 'harmless', says: 'the name of an NFT, or of a person', names: ['name'] },
  uri: { weight: 'harmless', says: 'where the metadata of an NFT is', names: ['uri', 'metadata uri', 'metadata url'] },
  start: {
    weight: 'decides',
    says: 'when its schedule begins',
    names: [
      ...['start', 'start date', 'start time', 'starts at', 'start at', 'begin', 'begin date', 'begin time'],
      ...['vesting start', 'vesting start date', 'vesting start time'],
    ],
    words: ['start', 'starts', 'begin', 'begins', 'offset'],
  },
  cliff: {
    weight: 'decides',
    says: 'when the first part unlocks',
    names: ['cliff', 'cliff date', 'cliff time', 'cliff at', 'unlocks at'],
    words: ['cliff'],
  },
  cliff_months: {
    weight: 'decides',
    says: 'months from the start to the first part',
    names: ['cliff months', 'cliff in months', 'offset months', 'lock months', 'lockup months', 'months'],
  },
  cliff_days: {
    weight: 'decides',
    says: 'days from the start to the first part',
    names: ['cliff days', 'cliff in days', 'offset days', 'lock days', 'lockup days', 'days'],
  },
  cliff_amount: {
    weight: 'decides',
    says: 'how much unlocks at the cliff',
    names: ['cliff amount', 'cliff unlock amount', 'cliff unlock'],
  },
  end: {
    weight: 'decides',
    says: 'when everything is unlocked',
    names: ['end', 'end date', 'end time', 'ends at', 'end at', 'vesting end', 'vesting end date', 'vesting end time'],
    words: ['end', 'ends', 'until', 'expiry', 'expires', 'deadline'],
  },
  periods: {
    weight: 'decides',
    says: 'how many parts follow the cliff',
    names: ['periods', 'number of periods', 'number of period', 'installments', 'number of installments'],
    words: ['installments', 'instalments', 'tranche', 'tranches'],
  },
  frequency: {
    weight: 'decides',
    says: 'how long each period is',
    names: ['frequency', 'period', 'installment', 'interval'],
    words: ['installment', 'instalment', 'period', 'duration', 'months', 'days', 'weeks', 'years'],
  },
  period_amount: {
    weight: 'decides',
    says: 'how much each period unlocks',
    names: ['amount per period', 'period amount'],
  },
  lockup: {
    weight: 'decides',
    says: 'until when it is locked',
    names: ['lockup date', 'unlock date', 'unlock time', 'locked until'],
    words: ['lock', 'locked', 'lockup', 'unlock', 'unlocks', 'vest', 'vests', 'vested', 'vesting', 'tge'],
  },
  cancel_mode: { weight: 'decides', says: 'who may end a lock', names: ['cancel mode', 'cancellable by'] },
  recipient_mode: {
    weight: 'decides',
    says: 'who may change the recipient of a lock',
    names: ['update recipient mode', 'recipient changeable by'],
  },
  terms: {
    weight: 'decides',
    says: 'who may end or change a lock',
    names: ['cancelable', 'cancellable', 'revocable', 'transferable'],
    words: ['cancelable', 'cancellable', 'revocable', 'transferable'],
  },
  paid: {
    weight: 'decides',
    says: 'what became of the row',
    names: [
      ...['status', 'state', 'result', 'outcome', 'signature', 'tx', 'txid', 'tx hash', 'transaction'],
      ...['error', 'failure', 'paid', 'sent', 'claimed', 'processed', 'success', 'done', 'completed', 'confirmed'],
    ],
    words: [
      ...['status', 'state', 'signature', 'signatures', 'sig', 'tx', 'txn', 'txid', 'txhash', 'transaction', 'hash'],
      ...['error', 'err', 'paid', 'sent', 'claimed', 'processed', 'finalized', 'confirmed', 'completed', 'success'],
      ...['failed', 'settled', 'distributed', 'airdropped', 'transferred', 'delivered'],
    ],
  },
  token: {
    weight: 'decides',
    says: 'which token',
    names: ['mint', 'token', 'token mint', 'mint address', 'token address', 'symbol', 'currency', 'asset', 'coin'],
    words: ['mint', 'token', 'symbol', 'ticker', 'currency', 'asset', 'coin', 'contract'],
  },
  network: {
    weight: 'decides',
    says: 'on which network',
    names: ['network', 'chain', 'blockchain', 'cluster'],
    words: ['network', 'chain', 'blockchain', 'cluster'],
  },
  units: {
    weight: 'decides',
    says: 'in which units',
    names: ['decimals', 'token decimals', 'unit', 'units'],
    words: ['decimals', 'unit', 'units', 'ui', 'raw'],
  },
  chosen: {
    weight: 'decides',
    says: 'whether the row is meant at all',
    names: ['eligible', 'excluded', 'exclude', 'included', 'include', 'approved', 'blocked', 'banned', 'sybil', 'skip'],
    words: ['eligible', 'excluded', 'exclude', 'include', 'approved', 'blocked', 'banned', 'sybil', 'kyc', 'skip'],
  },
  harmless: {
    weight: 'harmless',
    says: 'something for people',
    names: [
      ...['#', 'no', 'nr', 'index', 'id', 'user id', 'row', 'rank', 'ranking', 'label', 'labels', 'tag', 'tags'],
      ...['tier', 'level', 'category', 'cohort', 'group', 'team', 'role', 'note', 'notes', 'memo', 'comment'],
      ...['comments', 'remark', 'remarks', 'description', 'username', 'full name', 'first name', 'last name'],
      ...['nickname', 'handle', 'email', 'discord', 'discord id', 'twitter', 'twitter handle', 'telegram'],
      ...['telegram id', 'github', 'country', 'region', 'percentage', 'percent', 'pct', '%', 'usd', 'usd value'],
      ...['value usd', 'amount usd', 'price', 'price usd', 'token account', 'token acct', 'ata', 'delegated amount'],
      ...['associated token account', 'frozen', 'token name'],
    ],
  },
})

export type ColumnRole = keyof typeof COLUMN_NAMES

/** Names of amounts that also say their units. */
const UNITS_OF: Readonly<Record<string, 'whole tokens' | 'raw units'>> = {
  uiamount: 'whole tokens',
  uiamountstring: 'whole tokens',
  amountraw: 'raw units',
  rawamount: 'raw units',
  baseunits: 'raw units',
  amountlamports: 'raw units',
  lamports: 'raw units',
}

/** The units that the name of an amount says; undefined for most. */
export const unitsOfName = (name: string) => UNITS_OF[plainName(name)]

/** A name for comparison: letter case, spaces, hyphens, underscores, brackets and points do not count. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[\s_\-()[\].:?'"/]+/g, '')

const ROLES = new Map<string, ColumnRole>()
const WORDS = new Map<string, ColumnRole>()
for (const [role, { names, words = [] }] of Object.entries<KnownColumn>(COLUMN_NAMES)) {
  for (const name of names) ROLES.set(plainName(name), role as ColumnRole)
  for (const word of words) WORDS.set(word, role as ColumnRole)
}

/** What a column of this very name is; undefined for an unknown one. */
export const roleOf = (name: string): ColumnRole | undefined => ROLES.get(plainName(name))

/** What a word of an unknown name says that its column decides, such as `lock` in `lockExpiry`; undefined if none. */
export function roleByWord(name: string): ColumnRole | undefined {
  for (const word of wordsOf(name)) {
    const role = WORDS.get(word)
    if (role !== undefined) return role
  }
  return undefined
}

/** The words of a name, in small letters: `lockExpiry` has two. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
