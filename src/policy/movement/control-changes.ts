/** Finds changes of control: authorities that the wallet loses, delegates that it adds, and closings of its accounts. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { utf8 } from '../../solana/bytes.ts'
import { CLAIM_TO_OWNER } from '../../solana/position-permissions.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { DAMM_V2 } from '../../solana/programs/damm-v2.ts'
import { OPTION_TAG_BYTES } from '../../solana/programs/field-types.ts'
import { JUPITER_LOCK } from '../../solana/programs/jupiter-lock.ts'
import { MERKLE_DISTRIBUTOR } from '../../solana/programs/merkle-distributor.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import { TOKEN } from '../../solana/programs/token.ts'
import { TOKEN_METADATA } from '../../solana/programs/token-metadata.ts'
import type { TokenAccountState } from '../../solana/token-accounts.ts'
import { TOKEN_AUTHORITIES } from '../../solana/token-authorities.ts'
import { metadataAuthority, readMintExtensions } from '../../solana/token-extensions.ts'
import type { InstructionEffects } from './instruction-effects.ts'
import type { AccountClosing, AuthorityChange, Delegation, Destination } from './movement.ts'
import {
  type AccountSnapshot,
  holdsAddressAt,
  nonceAuthority,
  type TouchedAccount,
  type TouchedAccounts,
} from './touched-accounts.ts'

/** Addresses in the wallet's accounts that receive value, besides the wallet's own address. */
const GUARDED_ADDRESSES = [
  {
    program: MERKLE_DISTRIBUTOR.id,
    offset: MERKLE_DISTRIBUTOR.offsetOf('merkle_distributor', 'clawback_receiver'),
    what: 'clawback receiver of the distributor',
  },
  {
    program: JUPITER_LOCK.id,
    offset: JUPITER_LOCK.offsetOf('escrow', 'recipient'),
    what: 'recipient of the escrow',
  },
] as const
/** Records by which others may act on metadata. */
const METADATA_RECORDS = [
  'use_authority_record',
  'collection_authority_record',
  'metadata_delegate',
  'holder_delegate',
] as const
/** Offset of the delegate in a token account. */
const DELEGATE_OFFSET = TOKEN.offsetOf('account', 'delegate') + OPTION_TAG_BYTES

export function authorityChanges(
  wallet: string,
  accounts: TouchedAccounts,
  { assigned }: InstructionEffects,
): AuthorityChange[] {
  const changes = [...accounts.values()].flatMap((touched) =>
    touched.address === wallet ? walletChange(touched) : accountChanges(wallet, touched),
  )
  return [...changes, ...assigned.map(({ address, to }) => ({ address, what: 'program of a derived account', to }))]
}

function walletChange({ address, after: { account } }: TouchedAccount): AuthorityChange[] {
  if (account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0)) return []
  return [{ address, what: 'the wallet itself', to: account.owner }]
}

function accountChanges(wallet: string, touched: TouchedAccount): AuthorityChange[] {
  const { address, before, after, offsets } = touched
  const changes = newCloseAuthority(wallet, touched)
  if (before.account === null || after.account === null) return changes
  if (offsets.length > 0 && before.account.owner !== after.account.owner) {
    changes.push({ address, what: 'program of the account', to: after.account.owner })
  }
  const lost = lostFields(wallet, touched)
  changes.push(...lost)
  if (lost.length === 0) changes.push(...lostOffset(wallet, touched, before.account, after.account))
  if (offsets.length > 0) changes.push(...guardedChanges(wallet, address, before.account, after.account))
  changes.push(...lostPayouts(wallet, address, before.account, after.account))
  return changes
}

function newCloseAuthority(wallet: string, { address, before, after }: TouchedAccount): AuthorityChange[] {
  const closer = after.token?.closeAuthority ?? null
  const isNew = closer !== null && closer !== wallet && closer !== before.token?.closeAuthority
  if (after.token?.owner !== wallet || !isNew) return []
  return [{ address, what: 'close authority of the token account', to: closer }]
}

/** A revoked authority leaves its bytes in the data, so for token accounts and mints the fields are compared. */
function lostFields(wallet: string, { address, before, after }: TouchedAccount): AuthorityChange[] {
  const fields: HeldAuthority[] = [
    ['token account owner', before.token?.owner, after.token?.owner],
    ['close authority of the token account', before.token?.closeAuthority, after.token?.closeAuthority],
    ['mint authority', before.mint?.mintAuthority, after.mint?.mintAuthority],
    ['freeze authority', before.mint?.freezeAuthority, after.mint?.freezeAuthority],
    ...extensionAuthorities(before, after),
  ]
  return fields.flatMap(([what, from, to]) =>
    from === wallet && to !== wallet ? { address, what, to: to ?? null } : [],
  )
}

type HeldAuthority = readonly [what: string, from: string | null | undefined, to: string | null | undefined]

/** The authorities of a mint's extensions, with their holders before and after. */
function extensionAuthorities(before: AccountSnapshot, after: AccountSnapshot): HeldAuthority[] {
  if (before.mint === null || before.account === null || after.account === null) return []
  const [old, now] = [before.account.data, after.account.data]
  const to = new Map(Object.entries(readMintExtensions(now).authorities))
  return [
    ...Object.entries(readMintExtensions(old).authorities).map(
      ([type, from]): HeldAuthority => [authorityName(type), from, to.get(type)],
    ),
    ['metadata authority', metadataAuthority(old), metadataAuthority(now)],
  ]
}

/** Authorities that svc does not change itself are named after their extension. */
const authorityName = (type: string): string =>
  new Map<string, { name: string }>(Object.entries(TOKEN_AUTHORITIES)).get(type)?.name ??
  `${type.replaceAll('_', ' ')} authority`

/** Returns the first offset that held the wallet's address and no longer does. */
function lostOffset(
  wallet: string,
  { address, before: { token }, offsets }: TouchedAccount,
  before: ChainAccount,
  after: ChainAccount,
): AuthorityChange[] {
  // It is not a loss when the wallet stops being the delegate of a token account.
  const watched = token === null ? offsets : offsets.filter((offset) => offset !== DELEGATE_OFFSET)
  const lost = watched.find((offset) => !holdsAddressAt(after, offset, addressBytes(wallet)))
  if (lost === undefined) return []
  const isMetadata =
    before.owner === TOKEN_METADATA.id && lost === TOKEN_METADATA.offsetOf('metadata', 'update_authority')
  const what =
    nonceAuthority(before) !== null
      ? 'nonce authority'
      : isMetadata
        ? 'metadata authority'
        : `the address at byte ${lost}`
  return [{ address, what, to: after.data.length >= lost + 32 ? addressAt(after, lost) : null }]
}

function guardedChanges(wallet: string, address: string, before: ChainAccount, after: ChainAccount): AuthorityChange[] {
  return GUARDED_ADDRESSES.flatMap(({ program, offset, what }) => {
    if (before.owner !== program || before.data.length < offset + 32) return []
    const isSame = holdsAddressAt(after, offset, before.data.subarray(offset, offset + 32))
    if (isSame || holdsAddressAt(before, offset, addressBytes(wallet))) return []
    return { address, what, to: addressAt(after, offset) }
  })
}

/** A recipient who cancels a lock gives what is not due yet to its creator. */
function lostPayouts(wallet: string, address: string, before: ChainAccount, after: ChainAccount): AuthorityChange[] {
  const [lock, ended] = [before, after].map((account) => JUPITER_LOCK.decode('escrow', account))
  if (lock?.recipient !== wallet || lock.creator === wallet || lock.cancelled_at !== 0n || !ended?.cancelled_at)
    return []
  return [{ address, what: 'what the lock still pays', to: lock.creator }]
}

const addressAt = ({ data }: ChainAccount, offset: number): string => addressOf(data.subarray(offset, offset + 32))

export function delegations(wallet: string, accounts: TouchedAccounts): Delegation[] {
  return [...accounts.values()].flatMap((touched) => {
    const { address, before, after } = touched
    const token = after.token
    if (token?.owner === wallet && token.delegate !== null && token.delegate !== wallet) {
      const { delegate, delegatedAmount: amount } = token
      const old = before.token?.delegate === delegate ? before.token.delegatedAmount : -1n
      const isMore = amount > old && !isClaimDelegate(token, accounts)
      return isMore ? { address, kind: 'token account', delegate, amount } : []
    }
    const kind = permitsMore(touched) ? 'position' : programDelegation(wallet, touched)
    return kind === null ? [] : { address, kind, delegate: null, amount: null }
  })
}

/** Plugins and records let others act on the wallet's accounts, so only counters in them may change. */
function programDelegation(wallet: string, { before, after }: TouchedAccount): Delegation['kind'] | null {
  const [old, now] = [before.account, after.account]
  if (now === null || (old !== null && Buffer.from(old.data).equals(now.data))) return null
  if (METADATA_RECORDS.some((record) => TOKEN_METADATA.is(record, now))) return 'metadata record'
  if (old === null) return null
  const isHolder = (offset: number) => holdsAddressAt(old, offset, addressBytes(wallet))
  if (METAPLEX_CORE.is('asset', old)) return isHolder(METAPLEX_CORE.offsetOf('asset', 'owner')) ? 'core asset' : null
  if (!METAPLEX_CORE.is('collection', old) || !isHolder(METAPLEX_CORE.offsetOf('collection', 'update_authority'))) {
    return null
  }
  const [from, to] = [withoutCounters(old) ?? old.data, withoutCounters(now) ?? now.data]
  return Buffer.from(from).equals(to) ? null : 'core collection'
}

/**
 * A closing instruction names the receiver of the lamports. Otherwise the receivers are the accounts that gain more
 * than the wallet sent to them.
 */
export function accountClosings(
  wallet: string,
  accounts: TouchedAccounts,
  { closed, outgoing }: InstructionEffects,
  destinations: readonly Destination[],
): AccountClosing[] {
  const isSame = (a: string | null, b: string | null) => (a ?? WRAPPED_SOL) === (b ?? WRAPPED_SOL)
  const sentTo = (each: Destination) =>
    outgoing.reduce(
      (sum, { to, mint, amount }) => (to === each.address && isSame(mint, each.mint) ? sum + amount : sum),
      0n,
    )
  const gainers = () =>
    destinations
      // Who gains other tokens, for example those of a lock that ends, has not gained the lamports.
      .filter(({ mint, ...each }) => isSame(mint, null) && each.amount > sentTo({ ...each, mint }))
      .map(({ address }) => address)
  return [...accounts.values()].flatMap(({ address, before, after, offsets }) => {
    if (address === wallet || before.account === null || after.account !== null || offsets.length === 0) return []
    const instructed = closed.filter((each) => each.address === address).map(({ to }) => to)
    const what = before.token ? 'token account' : before.mint ? 'mint' : `account of ${before.account.owner}`
    const to = instructed.length > 0 ? instructed : gainers()
    return { address, what, lamports: before.account.lamports, to: to.length > 0 ? [...new Set(to)] : [wallet] }
  })
}

// Tells the delegate of a position in DAMM v2 that may only claim fees for the owner from one that may do more. The
// program takes the delegate of the NFT's token account, and what it may do is in the position.

/**
 * Whether the delegate of a token account can only claim fees into the owner's accounts: it may take no units, and the
 * transaction writes to the NFT's position, which permits nothing else.
 */
function isClaimDelegate({ mint, delegatedAmount }: TokenAccountState, accounts: TouchedAccounts): boolean {
  if (delegatedAmount !== 0n) return false
  return [...accounts.values()].some(({ after: { account } }) => {
    const position = positionIn(account)
    return position?.nft_mint === mint && (position.delegate_permission & ~CLAIM_TO_OWNER) === 0
  })
}

/** Whether a position permits its delegate more than before, other than to claim fees for the owner. */
export function permitsMore({ before, after }: TouchedAccount): boolean {
  const old = positionIn(before.account)?.delegate_permission ?? 0
  const now = positionIn(after.account)?.delegate_permission ?? 0
  return (now & ~old & ~CLAIM_TO_OWNER) !== 0
}

const positionIn = (account: ChainAccount | null) => DAMM_V2.decode('position', account)

// Handles collections of Metaplex Core, whose two counters change whenever anyone mints or burns.

const COUNTERS_BYTES = 8

/** Returns the data without the counters `num_minted` and `current_size`, or null if it is not a collection or is cut off. */
export function withoutCounters(account: ChainAccount): Buffer | null {
  const fields = METAPLEX_CORE.decode('collection', account)
  if (fields === null) return null
  const { name, uri } = fields
  const texts = METAPLEX_CORE.offsetOf('collection', 'name')
  const at = [name, uri].reduce((sum, text) => sum + 4 + utf8(text).length, texts)
  return Buffer.concat([account.data.subarray(0, at), account.data.subarray(at + COUNTERS_BYTES)])
}
