/** Names what a transaction did according to its changes: claims, trades, launches, airdrops, locks. */

import type { LedgerKind, LedgerParty } from '../../api/ledger-names.ts'
import { dammV2ChangesIn } from '../../chain/programs/damm-v2/index.ts'
import { dbcChangesIn } from '../../chain/programs/dbc/index.ts'
import { isGoldLock, lockChangesIn, vestingClaimsIn } from '../../chain/programs/jupiter-lock/index.ts'
import { distributorChangesIn } from '../../chain/programs/merkle-distributor/index.ts'
import { assetChangesIn } from '../../chain/programs/metaplex-core/index.ts'
import { raisesIn } from '../../chain/programs/presale/index.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { decodeInstruction } from '../../solana/instructions.ts'

/** One thing that a transaction did. */
export interface LedgerAct {
  kind: LedgerKind
  detail: string | null
  pool: string | null
  /** The account of the act that owns token accounts, if it is not a pool: a distributor or an escrow. */
  holder: string | null
  /** The acting wallet, and its party. */
  actor: string | null
  party: LedgerParty
  /** Wallets that the act itself pays. */
  recipients: readonly string[]
  /** Base mint of a launch. */
  mint: string | null
  /** Raw units that token transfers within the act took out of each account. */
  taken: ReadonlyMap<string, bigint>
}

/** Known facts about the addresses in a transaction. */
export interface KnownAddresses {
  /** Platform wallets. */
  platform: ReadonlySet<string>
  /** Creators by the pool's address. */
  creators: ReadonlyMap<string, string>
  /** Launch curves by the address of the lock that holds their vested tokens. */
  vestings: ReadonlyMap<string, string>
  /** Mint of gold locks. */
  goldMint: string | undefined
  /** Distributors, locks and raises with a record here. */
  holders: ReadonlySet<string>
  /** Owners of the transaction's token accounts. A delegate signs the claim of a position for its holder. */
  tokenOwners?: ReadonlyMap<string, string>
  /** Whether the transaction was submitted here, which requires an API key. */
  isSubmitted: boolean
}

/** The fields that changes of pools may have, depending on the kind. */
interface PoolChangeFields {
  kind: string
  pool: string
  creator?: string
  trader?: string
  feeClaimer?: string
  claimer?: string
  owner?: string
  beneficiary?: string
  position?: string
  nftAccount?: string
  mint?: string
  tokenAMint?: string
  recipients?: readonly { recipient: string }[]
}

const NOTHING = {
  detail: null,
  pool: null,
  holder: null,
  actor: null,
  recipients: [],
  mint: null,
  taken: new Map(),
} as const

/** Kinds of claims from a launch curve other than its trading fees. */
const CURVE_CLAIMS = ['surplus', 'migration_fee', 'leftover', 'pool_creation_fee']

/**
 * Returns each act once, even if several instructions belong to it. The instructions of `message` include the calls
 * between programs.
 */
export function actsIn(message: DecodedMessage, known: KnownAddresses): LedgerAct[] {
  const acts = [
    ...poolChanges(message).flatMap((change) => poolAct(change, known)),
    ...vestingActs(message, known),
    ...distributorActs(message, known),
    ...lockActs(message, known),
  ]
  const taken = sumTransfersByAct(message, known)
  return [...groupedBy(acts, nameOfAct)].flatMap(([name, [act, ...others]]) => {
    if (act === undefined) return []
    const recipients = [act, ...others].flatMap((each) => each.recipients)
    return [{ ...act, recipients, taken: taken.get(name) ?? act.taken }]
  })
}

/**
 * Whether a payment to the platform may be its fee: the transaction must contain an act that is built here, stakes
 * included and trades excluded. If it was not submitted here, it needs a record of this service, because strangers
 * claim on their own.
 */
export const isChargeable = (message: DecodedMessage, acts: readonly LedgerAct[], known: KnownAddresses): boolean =>
  acts.some((act) => act.kind !== 'trade' && (known.isSubmitted || isRecorded(act, known))) ||
  raisesIn(message).some((raise) => known.isSubmitted || known.holders.has(raise)) ||
  assetChangesIn(message).some((change) => 'platformId' in change && change.platformId !== null)

const isRecorded = ({ kind, detail, pool, holder }: LedgerAct, { creators, holders }: KnownAddresses): boolean =>
  (kind === 'lock' && detail === null) ||
  (pool !== null && creators.has(pool)) ||
  (holder !== null && holders.has(holder))

const poolChanges = (message: DecodedMessage) =>
  [...dbcChangesIn(message), ...dammV2ChangesIn(message)] as readonly PoolChangeFields[]

const nameOfAct = ({ kind, detail, pool, holder, actor }: LedgerAct): string =>
  [kind, detail, pool, holder, actor].join(' ')

/** Sums what token transfers took out of accounts after the instruction of each act, up to the next act. */
function sumTransfersByAct(message: DecodedMessage, known: KnownAddresses): Map<string, Map<string, bigint>> {
  const { keys, instructions } = message
  const taken = new Map<string, Map<string, bigint>>()
  let current: string | null = null
  for (const instruction of instructions) {
    const [act] = poolChanges({ ...message, instructions: [instruction] }).flatMap((change) => poolAct(change, known))
    if (act !== undefined) current = nameOfAct(act)
    const named = Array.from(instruction.accounts, (index) => keys[index] ?? '')
    const decoded = decodeInstruction(keys[instruction.programIdIndex] ?? '', named, instruction.data)
    if (current === null || decoded?.program !== 'token') continue
    const { instruction: moving } = decoded
    if (moving.type !== 'transfer' && moving.type !== 'transferChecked') continue
    const from = taken.get(current) ?? new Map<string, bigint>()
    from.set(moving.source, (from.get(moving.source) ?? 0n) + moving.amount)
    taken.set(current, from)
  }
  return taken
}

function poolAct(change: PoolChangeFields, known: KnownAddresses): LedgerAct[] {
  const { kind, pool } = change
  if (kind === 'pool_created') {
    const mint = change.mint ?? change.tokenAMint ?? null
    return [{ ...NOTHING, kind: 'launch', pool, actor: change.creator ?? null, party: 'creator', mint }]
  }
  if (kind === 'swap') {
    const actor = change.trader ?? null
    return [{ ...NOTHING, kind: 'trade', pool, actor, party: partyOr(actor, known, 'trader') }]
  }
  if (kind === 'migration') return [{ ...NOTHING, kind: 'migration', pool, party: 'pool' }]
  if (kind !== 'claim' && !CURVE_CLAIMS.includes(kind)) return []
  const holder = known.tokenOwners?.get(change.nftAccount ?? '')
  const actor = change.claimer ?? change.feeClaimer ?? holder ?? change.owner ?? null
  const detail = kind === 'claim' ? (change.position === undefined ? 'dbc' : 'damm_v2') : kind
  const recipients = (change.recipients ?? []).map(({ recipient }) => recipient)
  return [{ ...NOTHING, kind: 'claim', detail, pool, actor, recipients, party: beneficiaryOf(change, actor, known) }]
}

function beneficiaryOf(
  { beneficiary, pool, position, owner }: PoolChangeFields,
  actor: string | null,
  known: KnownAddresses,
): LedgerParty {
  if (beneficiary === 'creator' || beneficiary === 'partner') return beneficiary
  if (actor !== null && known.creators.get(pool) === actor && !known.platform.has(actor)) return 'creator'
  // Any wallet may own a position. From a launch curve only the partner can claim without being named.
  const isPosition = position !== undefined || owner !== undefined
  return isPosition && (actor === null || !known.platform.has(actor)) ? 'other' : 'partner'
}

const partyOr = (wallet: string | null, { platform }: KnownAddresses, party: LedgerParty): LedgerParty =>
  wallet !== null && platform.has(wallet) ? 'platform' : party

/** Vested tokens are in a separate lock, from which the creator at the migration may claim. */
const vestingActs = (message: DecodedMessage, { vestings }: KnownAddresses): LedgerAct[] =>
  vestingClaimsIn(message).map(({ escrow, claimer }) => {
    const pool = vestings.get(escrow) ?? null
    const party = pool === null ? 'other' : 'creator'
    return { ...NOTHING, kind: 'claim', detail: 'vesting', pool, holder: escrow, actor: claimer, party }
  })

function distributorActs(message: DecodedMessage, known: KnownAddresses): LedgerAct[] {
  return distributorChangesIn(message).map((change): LedgerAct => {
    const holder = change.distributor
    if (change.kind === 'created') {
      const party = partyOr(change.admin, known, 'other')
      return { ...NOTHING, kind: 'airdrop_funding', holder, actor: change.admin, party }
    }
    if (change.kind === 'claimed' || change.kind === 'vested_claimed') {
      return { ...NOTHING, kind: 'airdrop_claim', holder, actor: change.claimer, party: 'claimant' }
    }
    return { ...NOTHING, kind: 'withdrawal', holder, party: 'platform' }
  })
}

/** Locks that are no gold locks have the detail `vesting`, like claims from them. A closing has none for any lock. */
function lockActs(message: DecodedMessage, known: KnownAddresses): LedgerAct[] {
  return lockChangesIn(message).map((change): LedgerAct => {
    const { escrow: holder } = change
    if (change.kind === 'closed') {
      return {
        ...NOTHING,
        kind: 'unlock',
        holder,
        actor: change.creator,
        party: partyOr(change.creator, known, 'other'),
      }
    }
    const [kind, actor] =
      change.kind === 'created' ? (['lock', change.creator] as const) : (['unlock', change.by] as const)
    const detail = change.kind === 'created' && isGoldLock(change, known.goldMint) ? null : 'vesting'
    return { ...NOTHING, kind, detail, holder, actor, party: partyOr(actor, known, 'other') }
  })
}

// Groups rows by a key, in the order in which the keys first appear.

export function groupedBy<K, R>(rows: readonly R[], keyOf: (row: R) => K): Map<K, R[]> {
  const groups = new Map<K, R[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
