/** Control: authorities that the wallet loses, delegates that it gains, and accounts of its own that end. */
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type Holding, type Holdings, holdsAt, nonceAuthority } from './holdings.ts'
import type { Orders } from './orders.ts'
import type { AuthorityChange, Closing, Delegation, Destination } from './types.ts'

/** Addresses in accounts of the wallet that decide where value goes, though they are not the wallet's own. */
const GUARDED = [
  { program: PROGRAMS.distributor.id, offset: 169, what: 'clawback receiver of the distributor' },
  { program: PROGRAMS.lock.id, offset: 8, what: 'recipient of the escrow' },
] as const
/** First byte of Token Metadata's records that let another act: use, collection, metadata and holder delegates. */
const METADATA_RECORDS = new Set([8, 9, 12, 14])
/** Where a token account keeps its delegate. */
const DELEGATE = 76
const CORE_ASSET = 1
const CORE_COLLECTION = 5

export function authorityChanges(wallet: string, holdings: Holdings, { assigned }: Orders): AuthorityChange[] {
  const changes = [...holdings.values()].flatMap((holding) =>
    holding.address === wallet ? ofWallet(holding) : [...ofAccount(wallet, holding)],
  )
  return [...changes, ...assigned.map(({ address, to }) => ({ address, what: 'program of a derived account', to }))]
}

function ofWallet({ address, after: { account } }: Holding): AuthorityChange[] {
  if (account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0)) return []
  return [{ address, what: 'the wallet itself', to: account.owner }]
}

function* ofAccount(wallet: string, { address, before, after, offsets }: Holding): Iterable<AuthorityChange> {
  const closer = after.token?.closeAuthority ?? null
  const isNewCloser = closer !== null && closer !== wallet && closer !== before.token?.closeAuthority
  if (after.token?.owner === wallet && isNewCloser) {
    yield { address, what: 'close authority of the token account', to: closer }
  }
  if (before.account === null || after.account === null) return
  if (offsets.length > 0 && before.account.owner !== after.account.owner) {
    yield { address, what: 'program of the account', to: after.account.owner }
  }
  // An authority that is revoked leaves its bytes behind: token accounts and mints are compared by their fields.
  const fields = [
    ['token account owner', before.token?.owner, after.token?.owner],
    ['close authority of the token account', before.token?.closeAuthority, after.token?.closeAuthority],
    ['mint authority', before.mint?.mintAuthority, after.mint?.mintAuthority],
    ['freeze authority', before.mint?.freezeAuthority, after.mint?.freezeAuthority],
  ] as const
  let told = false
  for (const [what, from, to] of fields) {
    if (from !== wallet || to === wallet) continue
    told = true
    yield { address, what, to: to ?? null }
  }
  const key = addressBytes(wallet)
  // The wallet as a delegate is nothing to lose.
  const kept = before.token === null ? offsets : offsets.filter((offset) => offset !== DELEGATE)
  const gone = told ? undefined : kept.find((offset) => !holdsAt(after.account!, offset, key))
  if (gone !== undefined) {
    const nonce = nonceAuthority(before.account) === null ? `the address at byte ${gone}` : 'nonce authority'
    const to = after.account.data.length >= gone + 32 ? addressOf(after.account.data.subarray(gone, gone + 32)) : null
    yield { address, what: nonce, to }
  }
  for (const { program, offset, what } of offsets.length === 0 ? [] : GUARDED) {
    if (before.account.owner !== program || before.account.data.length < offset + 32) continue
    const old = before.account.data.subarray(offset, offset + 32)
    if (holdsAt(after.account, offset, old) || holdsAt(before.account, offset, key)) continue
    yield { address, what, to: addressOf(after.account.data.subarray(offset, offset + 32)) }
  }
}

export function delegations(wallet: string, holdings: Holdings): Delegation[] {
  return [...holdings.values()].flatMap((holding) => {
    const { address, before, after } = holding
    const token = after.token
    if (token?.owner === wallet && token.delegate !== null && token.delegate !== wallet) {
      const { delegate, delegatedAmount: amount } = token
      const old = before.token?.delegate === delegate ? before.token.delegatedAmount : -1n
      return amount > old ? { address, kind: 'token account', delegate, amount } : []
    }
    const kind = ofProgram(wallet, holding)
    return kind === null ? [] : { address, kind, delegate: null, amount: null }
  })
}

/** Plugins and records that let others act on what is the wallet's; nothing of it may change but its counters. */
function ofProgram(wallet: string, { before, after }: Holding): Delegation['kind'] | null {
  const [old, now] = [before.account, after.account]
  if (now === null || (old !== null && Buffer.from(old.data).equals(now.data))) return null
  if (now.owner === PROGRAMS.tokenMetadata.id) return METADATA_RECORDS.has(now.data[0]!) ? 'metadata record' : null
  if (old === null || old.owner !== PROGRAMS.core.id || !holdsAt(old, 1, addressBytes(wallet))) return null
  if (old.data[0] === CORE_ASSET) return 'core asset'
  if (old.data[0] !== CORE_COLLECTION) return null
  const [from, to] = [withoutCounters(old.data) ?? old.data, withoutCounters(now.data) ?? now.data]
  return Buffer.from(from).equals(to) ? null : 'core collection'
}

/** A collection's data without its two counters, which follow its name and URI; null where the data is another's, or does not fit. */
export function withoutCounters(data: Uint8Array): Buffer | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (data[0] !== CORE_COLLECTION) return null
  let at = 33
  for (let texts = 0; texts < 2; texts++) {
    if (at + 4 > data.length) return null
    at += 4 + view.getUint32(at, true)
  }
  return at + 8 <= data.length ? Buffer.concat([data.subarray(0, at), data.subarray(at + 8)]) : null
}

/** Who gets the lamports is told by the closing instruction, else by who gains more than the wallet was told to send. */
export function closings(
  wallet: string,
  holdings: Holdings,
  { closed, sent }: Orders,
  destinations: readonly Destination[],
): Closing[] {
  const isSame = (a: string | null, b: string | null) => (a ?? WRAPPED_SOL) === (b ?? WRAPPED_SOL)
  const sentTo = (each: Destination) =>
    sent.reduce(
      (sum, { to, mint, amount }) => (to === each.address && isSame(mint, each.mint) ? sum + amount : sum),
      0n,
    )
  const gainers = () => destinations.filter((each) => each.amount > sentTo(each)).map(({ address }) => address)
  return [...holdings.values()].flatMap(({ address, before, after, offsets }) => {
    if (address === wallet || before.account === null || after.account !== null || offsets.length === 0) return []
    const told = closed.filter((each) => each.address === address).map(({ to }) => to)
    const what = before.token ? 'token account' : before.mint ? 'mint' : `account of ${before.account.owner}`
    const to = told.length > 0 ? told : gainers()
    return { address, what, lamports: before.account.lamports, to: to.length > 0 ? [...new Set(to)] : [wallet] }
  })
}
