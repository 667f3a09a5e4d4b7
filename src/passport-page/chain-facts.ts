/** Proves the facts of a passport: reads the chain again and compares. Nothing counts as proven that was not read here. */

import { foreignWords } from '../claim-page/browser/page-fault.ts'
import {
  associatedAccountOf,
  base58Of,
  findProgramAddress,
  requireKey,
} from '../claim-page/browser/program-addresses.ts'
import { metaplexOf, ownMetadataOf, type ShownMetadata } from '../claim-page/browser/token-words.ts'
import { groupedDecimalOf } from '../solana/amounts.ts'
import { isBurntNft } from '../solana/burnt-nfts.ts'
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../solana/program-ids.ts'
import { metadataSeeds } from '../solana/programs/token-metadata.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY, PRESALE_AUTHORITY, PROGRAMS } from '../solana/programs.ts'
import { type MintState, readMint, readTokenAccount } from '../solana/token-accounts.ts'
import { extensionsIn, type MintExtensions, readMintExtensions } from '../solana/token-extensions.ts'
import {
  MINT_VERDICTS,
  type MintPowers,
  type MintRisk,
  usableHolder,
  type Verdict,
  type VerdictTime,
} from '../solana/token-verdicts.ts'
import {
  type Call,
  clockOf,
  lockOf,
  poolOf,
  positionLiquidity,
  readAccounts,
  type ShownAccount,
} from './chain-accounts.ts'
import type { BurntPosition, Passport } from './passport-file.ts'

export type FactState = 'proven' | 'changed' | 'unproven'

export interface Fact {
  group: 'Supply' | 'Powers over holders' | 'Locks' | 'Liquidity' | 'Largest holders'
  name: string
  value: string
  state: FactState
  note?: string
}

/** A verdict on a risk of the token. */
export interface ShownVerdict extends Pick<Verdict, 'level' | 'finding'> {
  risk: string
  /** Whether this browser read it from the mint; otherwise it is the report's word. */
  isProven: boolean
  note?: string
}

export interface ProvenFacts {
  slot: number
  facts: Fact[]
  verdicts: ShownVerdict[]
}

/** Extensions with the place of a mint's metadata, and with the metadata itself. */
const METADATA_POINTER = 18
const TOKEN_METADATA = 19
const SHOWN_HOLDERS = 10
const UNREAD = 'They could not be read when this page was written'

/** Throws an Error if the node does not show the mint. A part that it does not show is a fact without proof. */
export async function proveFacts(call: Call, passport: Passport): Promise<ProvenFacts> {
  const { mint, locks, pools } = passport
  const [metadataAddress, ...lockTokens] = await Promise.all([
    findProgramAddress(PROGRAMS.tokenMetadata.id, ...metadataSeeds(mint)),
    // Which token program the mint has is only known from the chain, so both accounts are asked for.
    ...locks.flatMap(({ address }) => [
      associatedAccountOf(mint, address, TOKEN_PROGRAM),
      associatedAccountOf(mint, address, TOKEN_2022_PROGRAM),
    ]),
  ])
  const { slot, accounts } = await readAccounts(call, [
    ...[mint, metadataAddress, CLOCK_SYSVAR],
    ...pools.map(({ address }) => address),
    ...locks.map(({ address }) => address),
    ...lockTokens,
  ])
  const [account = null, metaplex = null, clock = null, ...rest] = accounts
  const state = account === null ? null : readMint(account)
  if (account === null || state === null) throw new Error(`The node shows no token mint at ${mint}.`)
  const extensions = account.owner === TOKEN_2022_PROGRAM ? readMintExtensions(account.data) : null
  const { epoch, now } = clockOf(clock)
  const own = extensions === null ? null : ownMetadataOf(extensionsIn(account.data).get(TOKEN_METADATA))
  const metadata = own ?? metaplexOf(metaplex, mint)
  const place = pointedPlace(account, [mint, metadataAddress])
  const pointer = extensions?.authorities.metadata_pointer ?? null
  const powers: MintPowers = {
    ...state,
    extensions,
    metadataElsewhere: place,
    metadataPointerAuthority: pointer,
    metadata: metadata && { isMutable: metadata.isMutable, updateAuthority: metadata.authority },
  }
  const [poolAccounts, lockAccounts] = [rest.slice(0, pools.length), rest.slice(pools.length)]
  return {
    slot,
    verdicts: verdictsOf(passport, powers, { epoch, unixSeconds: now }),
    facts: [
      ...supplyFacts(passport, state, { metadata, place, pointer }),
      ...powerFacts(passport, state, extensions, epoch),
      ...lockFacts(passport, lockAccounts, { now, isToken2022: extensions !== null }),
      ...(await poolFacts(call, passport, poolAccounts)),
      ...passport.missing.map((group): Fact => ({ group, name: 'All', value: UNREAD, state: 'unproven' })),
      ...(await holderFacts(call, passport, state.supply)),
    ],
  }
}

const RANKS: Readonly<Record<Verdict['level'], number>> = { ok: 0, unknown: 1, warning: 2, danger: 3 }
/** Risks that a browser cannot judge, because they take every holder, lock and pool. */
const BY_WORD = ['unlocked_liquidity', 'large_holder'] as const

/** What the mint shows is judged here; the rest is the report's word, and missing if whoever wrote the file left it out. */
function verdictsOf({ verdicts }: Passport, powers: MintPowers, time: VerdictTime): ShownVerdict[] {
  const proven = (Object.keys(MINT_VERDICTS) as MintRisk[]).map((risk): ShownVerdict => {
    const [{ level, finding }, told] = [MINT_VERDICTS[risk](powers, time), verdicts.get(risk)]
    // A frozen vault of a pool is not part of the mint.
    const isWorse = risk === 'freeze_authority' && told !== undefined && RANKS[told.level] > RANKS[level]
    if (isWorse) return { risk, ...told, isProven: false }
    const hasChanged = told !== undefined && told.level !== level
    const note = hasChanged ? { note: `When this page was written: ${told.level}. ${told.finding}` } : {}
    return { risk, level, finding, isProven: true, ...note }
  })
  const others = [...verdicts].filter(([risk]) => !Object.hasOwn(MINT_VERDICTS, risk))
  const missing = BY_WORD.filter((risk) => !verdicts.has(risk))
  return [
    ...proven,
    ...others.map(([risk, told]) => ({ risk, ...told, isProven: false })),
    ...missing.map((risk) => ({
      risk,
      level: 'unknown' as const,
      finding: 'The report has no verdict on it.',
      isProven: false,
    })),
  ].toSorted((a, b) => RANKS[b.level] - RANKS[a.level])
}

function compared(group: Fact['group'], name: string, value: string, recorded: string): Fact {
  if (value === recorded) return { group, name, value, state: 'proven' }
  return { group, name, value, state: 'changed', note: `When this page was written: ${recorded}` }
}

/** Returns the account that a mint names for its metadata, if it is not one of those that are read; null otherwise. */
function pointedPlace({ owner, data }: ShownAccount, read: readonly (string | undefined)[]): string | null {
  const pointer = owner === TOKEN_2022_PROGRAM ? extensionsIn(data).get(METADATA_POINTER) : undefined
  const place = pointer?.subarray(32, 64)
  if (place?.length !== 32 || place.every((byte) => byte === 0)) return null
  const address = base58Of(place)
  return read.includes(address) ? null : address
}

interface FoundMetadata {
  metadata: ShownMetadata | null
  /** Account with other metadata, which is not read. */
  place: string | null
  /** Who can point the mint at other metadata. */
  pointer: string | null
}

function supplyFacts(passport: Passport, state: MintState, { metadata, place, pointer }: FoundMetadata): Fact[] {
  const { decimals } = passport
  const amount = (units: bigint, digits: number) => groupedDecimalOf(units, digits)
  const texts = metadata === null ? 'none' : labelOf(metadata.name, metadata.symbol)
  const recorded = labelOf(passport.name, passport.symbol)
  return [
    compared('Supply', 'Supply', amount(state.supply, state.decimals), amount(passport.supply, decimals)),
    compared('Supply', 'Decimals', String(state.decimals), String(decimals)),
    compared('Supply', 'New tokens', mintText(state.mintAuthority), mintText(passport.authorities.get('mint') ?? null)),
    compared('Supply', 'Name and symbol', texts, recorded === '' ? 'none' : recorded),
    place === null
      ? compared(
          'Supply',
          'Metadata',
          metadataText(metadata?.isMutable ?? false, pointer),
          metadataText(passport.isMutable, passport.authorities.get('metadata_pointer') ?? null),
        )
      : { group: 'Supply', name: 'Metadata', value: `It is in the account ${place}`, state: 'unproven' },
  ]
}

const labelOf = (name: string, symbol: string): string =>
  [lineOf(name, 32), lineOf(symbol, 10)].filter((each) => each !== '').join(', ')

/** Cut like the texts of a report. */
const lineOf = (text: string, most: number): string => [...foreignWords(text, 16 * most)].slice(0, most).join('').trim()

const mintText = (holder: string | null) =>
  usableHolder(holder) === null ? 'Nobody can mint more' : `${holder} can mint more`

function metadataText(isMutable: boolean, pointer: string | null): string {
  if (isMutable) return 'It can be changed'
  return pointer === null ? 'Nobody can change it' : `${pointer} can replace it`
}

function powerFacts(
  passport: Passport,
  { freezeAuthority }: MintState,
  extensions: MintExtensions | null,
  epoch: bigint,
): Fact[] {
  const group = 'Powers over holders'
  const recorded = (type: string) => passport.authorities.get(type) ?? null
  const freezing = (holder: string | null) =>
    usableHolder(holder) === null ? 'Nobody can freeze what holders have' : `${holder} can freeze holders`
  const freeze = compared(group, 'Freezing', freezing(freezeAuthority), freezing(recorded('freeze')))
  if (extensions === null) {
    return [freeze, { group, name: 'Extensions', value: 'None: the mint belongs to SPL Token', state: 'proven' }]
  }
  const { permanentDelegate, transferHook, transferFee, authorities, isPaused, isFrozenByDefault } = extensions
  const moving = (holder: string | null) =>
    holder === null ? 'Nobody can move the tokens of others' : `${holder} can move and burn everybody’s tokens`
  const pausing = (holder: string | null) =>
    holder === null ? 'Nobody can pause transfers' : `${holder} can pause transfers`
  const isComing = transferFee !== null && epoch < transferFee.newer.epoch
  const fee = isComing ? transferFee.older : (transferFee?.newer ?? null)
  const coming = isComing ? `, ${transferFee.newer.basisPoints / 100} % from epoch ${transferFee.newer.epoch} on` : ''
  const changing = (holder: string | null | undefined) => (holder ? `; ${holder} can change it` : '')
  const { transfer_fee_config: feeAuthority, transfer_hook: hookAuthority } = authorities
  const shown = (name: string, value: string): Fact => ({ group, name, value, state: 'proven' })
  return [
    freeze,
    compared(group, 'Permanent delegate', moving(permanentDelegate), moving(recorded('permanent_delegate'))),
    compared(group, 'Pausing', pausing(authorities.pause ?? null), pausing(recorded('pause'))),
    ...(isPaused === true ? [shown('Paused', 'All transfers are paused now')] : []),
    shown(
      'Transfer fee',
      fee === null ? 'None' : `${fee.basisPoints / 100} % of each transfer${coming}${changing(feeAuthority)}`,
    ),
    shown(
      'Transfer hook',
      `${transferHook === null ? 'None' : `${transferHook} decides on every transfer`}${changing(hookAuthority)}`,
    ),
    shown('New accounts', isFrozenByDefault ? 'They start frozen' : 'They can be used at once'),
    shown('Transfers', extensions.isTransferable ? 'Holders can transfer the token' : 'Nobody can transfer the token'),
  ]
}

/** A lock that pays out by its schedule has less left than when the page was written, which is not a change. */
function lockFacts(
  { mint, locks, decimals }: Passport,
  accounts: readonly (ShownAccount | null)[],
  { now, isToken2022 }: { now: bigint; isToken2022: boolean },
): Fact[] {
  const amount = (units: bigint) => groupedDecimalOf(units, decimals)
  return locks.map(({ address, recipient, amount: recorded }, i) => {
    const fact = { group: 'Locks' as const, name: `Lock ${address}` }
    const lock = lockOf(accounts[i] ?? null, now)
    const token = accounts[locks.length + 2 * i + (isToken2022 ? 1 : 0)] ?? null
    const held = token === null ? null : readTokenAccount(token)
    const was = `When this page was written: ${amount(recorded)} locked for ${recipient}`
    if (lock === null || lock.mint !== mint)
      return { ...fact, value: 'There is no such lock', state: 'changed', note: was }
    if (lock.isCancelled) return { ...fact, value: 'It was cancelled', state: 'changed', note: was }
    const cancelling = lock.canBeCancelled ? '; it can be cancelled' : ''
    const value = `${amount(lock.left)} locked for ${lock.recipient} until ${timeText(lock.endsAt)}${cancelling}`
    const isFunded = held?.mint === mint && held.owner === address && held.amount >= lock.owed
    if (!isFunded) return { ...fact, value, state: 'changed', note: 'Its token account holds less than it owes' }
    if (lock.recipient !== recipient || lock.left > recorded) return { ...fact, value, state: 'changed', note: was }
    return { ...fact, value, state: 'proven' }
  })
}

/** Last second with a year of four digits. */
const LAST_SECOND = 253_402_300_799n

const timeText = (seconds: bigint): string =>
  seconds > LAST_SECOND
    ? 'a time after the year 9999'
    : `${new Date(Number(seconds) * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`

async function poolFacts(
  call: Call,
  { mint, pools }: Passport,
  accounts: readonly (ShownAccount | null)[],
): Promise<Fact[]> {
  const facts: Fact[] = [
    { group: 'Liquidity', name: 'Other programs', value: 'Liquidity elsewhere is not counted', state: 'unproven' },
  ]
  for (const [i, { address, type, lockedBps, burnt }] of pools.entries()) {
    const fact = { group: 'Liquidity' as const, name: `${type === 'dbc' ? 'Launch curve' : 'Pool'} ${address}` }
    const pool = poolOf(accounts[i] ?? null, type)
    if (pool === null || !pool.mints.includes(mint)) {
      facts.push({ ...fact, value: 'There is no such pool', state: 'changed' })
    } else if (pool.isMigrated) {
      facts.push({ ...fact, value: 'The curve is full and has migrated to a pool', state: 'changed' })
    } else if (type === 'dbc') {
      facts.push({ ...fact, value: 'The curve holds the liquidity until it is full', state: 'proven' })
    } else {
      const bps = partOf(pool.locked + (await burntLiquidity(call, address, burnt)), pool.liquidity)
      const share = (part: number) => `${part / 100} % of the liquidity can never be withdrawn`
      // More that is locked does no harm.
      facts.push(
        bps >= lockedBps
          ? { ...fact, value: share(bps), state: 'proven' }
          : { ...fact, value: share(bps), state: 'changed', note: `When this page was written: ${share(lockedBps)}` },
      )
    }
  }
  return facts
}

/** In hundredths of a percent, rounded down. */
const partOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : part >= whole ? 10_000 : Number((part * 10_000n) / whole)

/** What burnt positions of a pool hold, each counted once. The page read their accounts itself. */
async function burntLiquidity(call: Call, pool: string, burnt: readonly BurntPosition[]): Promise<bigint> {
  const once = burnt.filter(({ address }, i) => burnt.findIndex((each) => each.address === address) === i)
  if (once.length === 0) return 0n
  const addresses = once.flatMap(({ address, nftMint, nftAccount }) => [address, nftMint, nftAccount])
  const { accounts } = await readAccounts(call, addresses)
  const at = (place: number) => {
    const account = accounts[place] ?? null
    return account === null ? null : { ...account, lamports: 0n, executable: false }
  }
  return once.reduce((sum, { nftMint }, i) => {
    if (!isBurntNft(at(3 * i + 1), nftMint, at(3 * i + 2))) return sum
    return sum + positionLiquidity(accounts[3 * i] ?? null, pool, nftMint)
  }, 0n)
}

/** The largest token accounts as the node lists them, with their owners; the number of holders takes a whole scan. */
async function holderFacts(call: Call, passport: Passport, supply: bigint): Promise<Fact[]> {
  const group = 'Largest holders'
  const { mint, holders, locks } = passport
  const counted: Fact[] =
    holders === null
      ? []
      : [
          {
            group,
            name: 'Number of holders',
            value: String(holders.count),
            state: 'unproven',
            note: `Read at slot ${holders.slot} by svc; a browser cannot list every account`,
          },
        ]
  try {
    const answer = (await call('getTokenLargestAccounts', [mint, { commitment: 'confirmed' }])) as { value?: unknown }
    const addresses = (Array.isArray(answer?.value) ? answer.value : []).map((each: { address?: unknown }) =>
      String(each?.address),
    )
    const shownAddresses = addresses.slice(0, SHOWN_HOLDERS)
    for (const address of shownAddresses) requireKey(address)
    const { accounts } = shownAddresses.length === 0 ? { accounts: [] } : await readAccounts(call, shownAddresses)
    const known = new Map([
      [DAMM_V2_POOL_AUTHORITY, 'pools of DAMM v2'],
      [DBC_POOL_AUTHORITY, 'launch curves'],
      [PRESALE_AUTHORITY, 'raises'],
      ...locks.map(({ address }) => [address, 'a lock'] as const),
    ])
    const largest = accounts.flatMap((account): Fact[] => {
      const token = account === null ? null : readTokenAccount(account)
      if (token === null || token.mint !== mint || token.amount === 0n) return []
      const bps = supply === 0n ? 0 : Number((token.amount * 10_000n) / supply)
      const what = known.get(token.owner)
      return [
        { group, name: token.owner, value: `${bps / 100} %${what === undefined ? '' : `, ${what}`}`, state: 'proven' },
      ]
    })
    return [...largest, ...counted]
  } catch (error) {
    const note = foreignWords(error instanceof Error ? error.message : error)
    return [{ group, name: 'Largest accounts', value: 'Unknown', state: 'unproven', note }, ...counted]
  }
}
