/** Reads who holds a token, or the assets of a collection, at one slot. A reading that does not add up is refused. */
import { badRequest, notFound, Overtaken } from '../../platform/errors.ts'
import { pause } from '../../platform/timing.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { KEY_BYTES } from '../../solana/constants.ts'
import { NATIVE_MINT_2022, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { fieldType } from '../../solana/programs/field-types.ts'
import { METAPLEX_CORE, UPDATE_AUTHORITY } from '../../solana/programs/metaplex-core.ts'
import { TOKEN, TOKEN_ACCOUNT_STATES } from '../../solana/programs/token.ts'
import {
  hasTokenKind,
  hasTokenLayout,
  readMint,
  TOKEN_ACCOUNT_SIZE,
  TOKEN_AMOUNT_OFFSET,
} from '../../solana/token-accounts.ts'
import { hasHiddenBalance, hiddenAmounts, withheldFee, withheldInMint } from '../../solana/token-extensions.ts'
import type { Chain } from '../connection.ts'
import { atSlot, type NodeCalls } from '../nodes/node-call.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { OwnerSums } from './owner-sums.ts'
import { MOST_SLICE_BYTES, type ScanLimits, type ScannedAccount, scanAccounts, UnbelievableAnswer } from './scan.ts'

export type HeldAddress = { mint: string; collection?: undefined } | { mint?: undefined; collection: string }

export interface HoldersAtSlot {
  slot: number
  /** Token accounts or assets, empty accounts included. */
  accounts: number
  owners: OwnerSums
  /** Supply in raw units, or the assets of the collection. */
  supply: bigint
  /** Token program and decimals; null for a collection. */
  program: string | null
  decimals: number | null
  /** Raw units of transfer fees withheld in accounts and mint: part of the supply, but of no balance. */
  withheld: bigint
  /** Raw units in confidential balances, which only their holders can read. */
  confidential: bigint
}

interface ReadHoldersOptions {
  /** Accepts that the missing part of the supply is in confidential balances. */
  allowConfidential: boolean
  /** The default is the most of a snapshot. */
  limits?: ScanLimits
  /** How often a reading that does not add up is tried; by default four times. */
  tries?: number
  wait?: (milliseconds: number) => Promise<void>
}

/** Tries of a reading, because a supply can change while its accounts are listed; the first pause doubles each time. */
const READ_TRIES = 4
const FIRST_READ_WAIT_MS = 500

type HolderChain = Pick<Chain, 'call' | 'callLarge'>

/**
 * Throws not_found, bad_request naming the field, Overtaken saying what did not add up, or internal_error when the node
 * fails.
 */
export async function readHolders(
  chain: HolderChain,
  address: HeldAddress,
  { allowConfidential, limits, tries = READ_TRIES, wait = pause }: ReadHoldersOptions,
): Promise<HoldersAtSlot> {
  let last = ''
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await wait(FIRST_READ_WAIT_MS * 2 ** (attempt - 1))
    try {
      const read =
        address.mint === undefined
          ? await readAssets(chain, address.collection)
          : await readTokens(chain, address.mint, { allowConfidential, limits })
      if (typeof read !== 'string') return read
      last = read
    } catch (error) {
      if (!(error instanceof UnbelievableAnswer)) throw error
      last = error.message
    }
  }
  const what = address.mint ?? address.collection
  throw new Overtaken(
    `The holders of ${what} could not be read whole in ${tries} tries: ${last}. Nothing was stored; try again when less is traded, or set rpc-url to another node`,
  )
}

const MINT_AT = TOKEN.offsetOf('account', 'mint')
const OWNER_AT = TOKEN.offsetOf('account', 'owner')
const STATE_AT = TOKEN.offsetOf('account', 'state')
/** Bytes that are read of an account without extensions. */
const BASE_BYTES = STATE_AT + 1
const INITIALIZED = TOKEN_ACCOUNT_STATES.indexOf('initialized')
const FROZEN = TOKEN_ACCOUNT_STATES.indexOf('frozen')

/** Returns a sentence about what did not add up and may add up on the next try. */
async function readTokens(
  chain: HolderChain,
  mint: string,
  { allowConfidential, limits }: Pick<ReadHoldersOptions, 'allowConfidential'> & { limits: ScanLimits | undefined },
): Promise<HoldersAtSlot | string> {
  const before = await readMintFacts(chain, mint, 0)
  const { program, decimals, supply } = before
  if (mint === WRAPPED_SOL || mint === NATIVE_MINT_2022) {
    throw badRequest('Wrapped SOL has no supply to compare its accounts with', { param: 'mint' })
  }
  if (before.hidden === 'supply') {
    throw badRequest(`The supply of ${mint} is confidential, so it cannot be checked whether a list is complete`, {
      param: 'mint',
    })
  }
  const isSpl = program === TOKEN_PROGRAM
  const mintKey = addressBytes(mint)
  const owners = new OwnerSums()
  let [withheld, hidden] = [before.withheld, 0]
  const take = ({ data, space }: ScannedAccount) => {
    const state = data[STATE_AT]
    if (data.length < BASE_BYTES || !mintKey.every((byte, i) => data[MINT_AT + i] === byte)) {
      throw new UnbelievableAnswer('it shows an account of another mint')
    }
    const isAccount = space === TOKEN_ACCOUNT_SIZE || (!isSpl && hasTokenKind(data, 'account'))
    if (!isAccount || (state !== INITIALIZED && state !== FROZEN)) {
      throw new UnbelievableAnswer('it shows something that is not a token account')
    }
    if (!isSpl) {
      withheld += withheldFee(data)
      if (hasHiddenBalance(data)) hidden++
    }
    const amount = data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET)
    if (amount > 0n) addTo(owners, data.subarray(OWNER_AT, OWNER_AT + KEY_BYTES), amount, state === FROZEN)
  }
  const { slot, accounts } = await scanAccounts(
    chain,
    {
      what: `Listing the accounts of ${mint}`,
      program,
      filters: [
        ...(isSpl ? [{ dataSize: TOKEN_ACCOUNT_SIZE }] : [{ tokenAccountState: true }]),
        { memcmp: { offset: MINT_AT, bytes: mint } },
      ],
      dataSlice: { offset: 0, length: isSpl ? BASE_BYTES : MOST_SLICE_BYTES },
      minSlot: before.slot,
      ...(limits === undefined ? {} : { limits }),
    },
    take,
  )
  const after = await readMintFacts(chain, mint, slot)
  if (after.supply !== supply || after.withheld !== before.withheld) return 'the supply moved while it was read'
  const missing = supply - owners.total - withheld
  if (missing === 0n) return { slot, accounts, owners, supply, program, decimals, withheld, confidential: 0n }
  if (missing > 0n && hidden > 0 && before.hidden === 'balances') {
    if (allowConfidential) return { slot, accounts, owners, supply, program, decimals, withheld, confidential: missing }
    throw badRequest(
      `${missing} raw units of ${mint} are in confidential balances of up to ${hidden} accounts, or the node left accounts out; svc cannot know which. Send allow_confidential: true to take the balances that can be read`,
      { param: 'allow_confidential', details: { missing: missing.toString(), accounts: hidden } },
    )
  }
  return `its ${accounts} accounts hold ${owners.total + withheld} raw units at slot ${slot}, and the supply is ${supply}`
}

function addTo(owners: OwnerSums, owner: Uint8Array, amount: bigint, isFrozen: boolean): void {
  try {
    owners.add(owner, amount, isFrozen)
  } catch (error) {
    if (error instanceof RangeError) throw new UnbelievableAnswer(`it shows more than can exist: ${error.message}`)
    throw error
  }
}

const ASSET_KEY = Buffer.from(METAPLEX_CORE.firstBytesOf('asset'))
const ASSET_OWNER_AT = METAPLEX_CORE.offsetOf('asset', 'owner')
const AUTHORITY_AT = METAPLEX_CORE.offsetOf('asset', 'update_authority')

async function readAssets(chain: HolderChain, collection: string): Promise<HoldersAtSlot | string> {
  const before = await readCollectionFacts(chain, collection, 0)
  const inCollection = Buffer.from(fieldType(UPDATE_AUTHORITY).write({ name: 'Collection', value: [collection] }))
  const assetBytes = AUTHORITY_AT + inCollection.length
  const owners = new OwnerSums()
  const { slot, accounts } = await scanAccounts(
    chain,
    {
      what: `Listing the assets of ${collection}`,
      program: METAPLEX_CORE.id,
      filters: [
        { memcmp: { offset: 0, bytes: ASSET_KEY.toString('base64'), encoding: 'base64' } },
        { memcmp: { offset: AUTHORITY_AT, bytes: inCollection.toString('base64'), encoding: 'base64' } },
      ],
      dataSlice: { offset: 0, length: assetBytes },
      minSlot: before.slot,
    },
    ({ data }) => {
      const isIn =
        data.length === assetBytes &&
        ASSET_KEY.equals(data.subarray(0, ASSET_KEY.length)) &&
        inCollection.equals(data.subarray(AUTHORITY_AT))
      if (!isIn) throw new UnbelievableAnswer('it shows an asset of another collection')
      addTo(owners, data.subarray(ASSET_OWNER_AT, AUTHORITY_AT), 1n, false)
    },
  )
  const after = await readCollectionFacts(chain, collection, slot)
  if (after.size !== before.size) return 'assets were minted or burned while it was read'
  if (BigInt(accounts) !== after.size) {
    return `it shows ${accounts} assets at slot ${slot}, and the collection has ${after.size}`
  }
  return { slot, accounts, owners, supply: after.size, program: null, decimals: null, withheld: 0n, confidential: 0n }
}

// Reads at `finalized` the supply of a mint, or the number of assets of a collection, which its accounts must add up
// to.

interface MintFacts {
  slot: number
  program: string
  decimals: number
  supply: bigint
  /** Raw units of transfer fees in the mint itself. */
  withheld: bigint
  hidden: 'none' | 'balances' | 'supply'
}

interface CollectionFacts {
  slot: number
  /** Number of assets that exist now. */
  size: bigint
}

/** Throws not_found without a mint, internal_error when the node fails or has not reached `minSlot`. */
async function readMintFacts(chain: NodeCalls, mint: string, minSlot: number): Promise<MintFacts> {
  const { slot, owner, data } = await readFinalized(chain, mint, minSlot)
  const account = { owner, data, lamports: 0n, executable: false }
  const state = owner !== '' && hasTokenLayout(account, 'mint') ? readMint(account) : null
  if (state === null) throw notFound(`There is no token mint at ${mint}`, { param: 'mint' })
  const isToken2022 = owner === TOKEN_2022_PROGRAM
  return {
    slot,
    program: owner,
    decimals: state.decimals,
    supply: state.supply,
    withheld: isToken2022 ? withheldInMint(data) : 0n,
    hidden: isToken2022 ? hiddenAmounts(data) : 'none',
  }
}

/** Throws not_found without a collection. */
async function readCollectionFacts(chain: NodeCalls, collection: string, minSlot: number): Promise<CollectionFacts> {
  const { slot, ...account } = await readFinalized(chain, collection, minSlot)
  if (!METAPLEX_CORE.is('collection', account)) {
    throw notFound(`There is no collection at ${collection}`, { param: 'collection' })
  }
  const fields = METAPLEX_CORE.decode('collection', account)
  if (fields !== null) return { slot, size: BigInt(fields.current_size) }
  throw badRequest(`The collection ${collection} has parts that this version cannot read: upgrade svc`, {
    param: 'collection',
  })
}

/** An account without an owner does not exist. */
async function readFinalized(
  chain: NodeCalls,
  address: string,
  minSlot: number,
): Promise<{ slot: number; owner: string; data: Buffer }> {
  return askNode('Reading an account', async () => {
    const options = { encoding: 'base64', commitment: 'finalized', minContextSlot: minSlot }
    const result = await chain.call<unknown>('getAccountInfo', [address, options])
    const { slot, value } = atSlot<{ owner?: unknown; data?: unknown } | null>(
      result,
      (shown) => shown === null || typeof shown === 'object',
    )
    if (value === null) return { slot, owner: '', data: Buffer.alloc(0) }
    const { owner, data } = value
    if (typeof owner !== 'string' || !Array.isArray(data) || typeof data[0] !== 'string' || slot < minSlot) {
      throw new Error('its answer is incomplete')
    }
    return { slot, owner, data: Buffer.from(data[0], 'base64') }
  })
}
