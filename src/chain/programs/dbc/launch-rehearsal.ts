/** Rehearses a launch on its own chain in memory, with the cached programs: whether they accept it, and what it costs. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RehearsalChain } from '../../../localnet/rehearsal-chain.ts'
import { ApiError } from '../../../platform/errors.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import type { Rent } from '../../../solana/cluster-settings.ts'
import { feeOfMessage } from '../../../solana/fees.ts'
import { decodeWireTransaction } from '../../../solana/messages.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { freshKey } from '../../../solana/signatures.ts'
import { MINT_SIZE, plainMint, plainTokenAccount } from '../../../solana/token-accounts.ts'
import { type ExplainedError, explainTransactionError } from '../../errors/index.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { programFile } from '../../program-cache/cache.ts'
import type { UnsignedTransaction } from '../../sending/unsigned.ts'
import { buildDbcLaunch, buildWholeDbcLaunch, type DbcLaunchContent } from './launch.ts'
import { dbcPoolAddress, openDbc, quoteAccount } from './program.ts'
import { type QuoteAccounts, type QuoteTerms, tokenBadgeAddress } from './quote-mint.ts'
import { readDbcPool } from './state.ts'
import { buildDbcSwap } from './swaps.ts'
import type { LaunchCurve } from './types.ts'

interface LaunchRehearsalRequest {
  curve: LaunchCurve
  programsDir: string
  /** Lamports, or raw units of the quote, of the creator's first buy; 0 for none. */
  buyLamports: bigint
  /** The mint of a quote other than SOL and its badge, as the cluster has them; a plain mint when it is null. */
  quote: QuoteAccounts
  /** Rent of the cluster; that of the program cache when left out. */
  rent?: Rent | undefined
}

/** What a launch takes from the wallet of its creator, in lamports. */
export interface LaunchCost {
  total: bigint
  /** Rent of all accounts that the launch opens and leaves open. */
  rent: bigint
  /** Rent per byte of name, symbol and URI, 0 if the token's program pads them. The rehearsal has `textBytes` of them. */
  textByteRent: bigint
  textBytes: number
  /** What Metaplex charges for the token's metadata. */
  metadataFee: bigint
  poolCreationFee: bigint
  /** Fees of the network, without a priority fee. */
  networkFee: bigint
  /** What the first buy pays in SOL, its trading fee included; 0 with another quote. */
  firstBuy: bigint
  transactions: number
  version: 0 | 1
}

export interface LaunchRehearsal {
  /** Why the programs refuse the launch; null when they accept it. */
  failure: ExplainedError | null
  /** Null when the launch itself is refused. */
  cost: LaunchCost | null
}

const REHEARSAL_BALANCE = 2n ** 62n
const REHEARSAL_BLOCKHASH = SYSTEM_PROGRAM
/** Texts as long as in most launches. */
const REHEARSAL_TEXTS = { name: 'A rehearsed launch', symbol: 'REHEARSE', uri: `https://example.com/${'0'.repeat(64)}` }
/** The rehearsal buys this part of the curve after the launch. */
const BOUGHT_PART = 100n
const MOST_TERMS = {
  priorityFeeLamports: null,
  computeUnitLimit: 1_400_000,
  loadedAccountsDataSizeLimit: 64 * 1_024 * 1_024,
  heapSize: null,
}

/** Returns the SHA-256 in hex of the cached program of launch curves, or null when a launch cannot be rehearsed here. */
export async function launchProgramHash(programsDir: string): Promise<string | null> {
  const file = (id: string) => join(programsDir, programFile(id))
  if (!existsSync(file(PROGRAMS.dbc.id)) || !existsSync(file(PROGRAMS.tokenMetadata.id))) return null
  return createHash('sha256')
    .update(await readFile(file(PROGRAMS.dbc.id)))
    .digest('hex')
}

/** Creates the config and the pool with the first buy, then buys with another wallet. Nothing is sent to a cluster. */
export async function rehearseDbcLaunch({
  curve,
  programsDir,
  buyLamports,
  quote,
  rent,
}: LaunchRehearsalRequest): Promise<LaunchRehearsal> {
  const { openRehearsalChain } = await import('../../../localnet/rehearsal-chain.ts')
  const chain = await openRehearsalChain({ programsDir, now: Date.now(), ...(rent && { rent }) })
  const [creator, mint, config, partner, buyer] = freshAddresses()
  for (const wallet of [creator, buyer]) chain.set(wallet, walletWith(REHEARSAL_BALANCE))
  const terms = await putQuote(chain, { curve, quote, owners: [creator, buyer] })
  const launch = { ...REHEARSAL_TEXTS, creator, mint, config, curve, buyLamports, ...terms }
  const { built, version } = await launchOnCopy({ ...launch, feeClaimer: partner, leftoverReceiver: partner })
  const messages = built.map(({ transaction }) => decodeWireTransaction(transaction).message)
  const fresh = [...new Set(messages.flatMap(({ keys }) => keys))].filter((key) => chain.account(key) === null)
  const failure = runAll(chain, built)
  if (failure !== null) return { failure, cost: null }
  const networkFee = messages.reduce((sum, message) => sum + feeOfMessage(message), 0n)
  const total = REHEARSAL_BALANCE - (chain.account(creator)?.lamports ?? 0n)
  const isPadded = chain.account(mint)?.owner === TOKEN_PROGRAM
  const textByteRent = isPadded ? 0n : chain.minimumBalance(1) - chain.minimumBalance(0)
  const texts = { textByteRent, textBytes: Object.values(REHEARSAL_TEXTS).join('').length }
  const cost = { ...costOf(chain, fresh), ...texts, networkFee, total, transactions: built.length, version }
  const pool = await readDbcPool(callsOf(chain), await dbcPoolAddress({ mint, config, quoteMint: curve.quoteMint }))
  if (pool === null || pool.quoteReserve >= pool.threshold) return { failure: null, cost }
  const amount = (pool.threshold - pool.quoteReserve) / BOUGHT_PART + 1n
  const order = {
    payer: buyer,
    pool,
    side: 'buy' as const,
    amount,
    minimumOut: 0n,
    recentBlockhash: REHEARSAL_BLOCKHASH,
  }
  return { failure: runAll(chain, [await buildDbcSwap(order)]), cost }
}

/** Gives both wallets of a rehearsal tokens of a quote other than SOL, and returns what the launch names of it. */
async function putQuote(
  chain: RehearsalChain,
  { curve, quote, owners }: Pick<LaunchRehearsalRequest, 'curve' | 'quote'> & { owners: readonly string[] },
): Promise<QuoteTerms> {
  const { quoteMint, quoteDecimals } = curve
  if (quoteMint === WRAPPED_SOL) return { quoteProgram: 'spl', tokenBadge: null }
  const { mint, badge } = quote
  const owner = mint?.owner ?? TOKEN_PROGRAM
  const quoteProgram = owner === TOKEN_PROGRAM ? 'spl' : 'token2022'
  chain.set(
    quoteMint,
    mint ?? { ...walletWith(chain.minimumBalance(MINT_SIZE)), owner, data: plainMint(quoteDecimals) },
  )
  const tokenBadge = badge === null ? null : await tokenBadgeAddress(quoteMint)
  if (badge !== null && tokenBadge !== null) chain.set(tokenBadge, badge)
  const { key } = await openDbc()
  for (const wallet of owners) {
    const { address } = await quoteAccount({ quoteMint, quoteProgram }, key(wallet))
    const data = plainTokenAccount({ mint: quoteMint, owner: wallet, amount: REHEARSAL_BALANCE })
    chain.set(address.toBase58(), { ...walletWith(chain.minimumBalance(data.length)), owner, data })
  }
  return { quoteProgram, tokenBadge }
}

/** Version 0 like real launches, or 1 if a part is too large for it. */
async function launchOnCopy(
  launch: DbcLaunchContent,
): Promise<{ built: UnsignedTransaction[]; version: LaunchCost['version'] }> {
  const recentBlockhash = REHEARSAL_BLOCKHASH
  try {
    return { built: await buildDbcLaunch({ ...launch, tip: null, recentBlockhash, computeUnitPrice: 0n }), version: 0 }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'bad_request') throw error
    const envelope = { payer: launch.creator, recentBlockhash, messageConfig: MOST_TERMS }
    return { built: [await buildWholeDbcLaunch({ ...envelope, ...launch })], version: 1 }
  }
}

function runAll(chain: RehearsalChain, built: readonly UnsignedTransaction[]): ExplainedError | null {
  for (const { transaction } of built) {
    const { err, logs } = chain.run(transaction)
    if (err !== null) return explainTransactionError(err, { logs })
  }
  return null
}

/** Divides the lamports of the new accounts: the part above the rent was paid to the account's owner. */
function costOf(chain: RehearsalChain, fresh: readonly string[]) {
  const cost = { rent: 0n, metadataFee: 0n, poolCreationFee: 0n, firstBuy: 0n }
  for (const address of fresh) {
    const account = chain.account(address)
    if (account === null) continue
    const rent = chain.minimumBalance(account.data.length)
    const excess = account.lamports - rent
    cost.rent += rent
    if (account.owner === PROGRAMS.tokenMetadata.id) cost.metadataFee += excess
    else if (account.owner === PROGRAMS.dbc.id) cost.poolCreationFee += excess
    else if (account.owner === TOKEN_PROGRAM) cost.firstBuy += excess
    else cost.rent += excess
  }
  return cost
}

function freshAddresses(): [string, string, string, string, string] {
  const next = () => freshKey().address
  return [next(), next(), next(), next(), next()]
}

const walletWith = (lamports: bigint): ChainAccount => ({
  lamports,
  owner: SYSTEM_PROGRAM,
  data: new Uint8Array(),
  executable: false,
})

/** The only call of a rehearsal's chain: reading accounts. */
export const callsOf = ({ account }: Pick<RehearsalChain, 'account'>): NodeCalls => ({
  async call<T>(_: string, [addresses]: readonly unknown[]) {
    const value = (addresses as string[]).map((address) => {
      const { owner, executable, lamports, data } = account(address) ?? {}
      if (owner === undefined || data === undefined) return null
      const shown = [Buffer.from(data).toString('base64'), 'base64']
      return { owner, executable, lamports: Number(lamports), exactLamports: String(lamports), data: shown }
    })
    return { context: { slot: 1 }, value } as T
  },
})
