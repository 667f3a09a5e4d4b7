/** Reads a raise and a wallet's part in it from the chain. Nothing of the site is trusted: it only names the raise. */
import { utf8 } from '../../../solana/bytes.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'
import { isEd25519Point } from '../../../solana/curve.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../../solana/programs/presale.ts'
import { RIGHTS, SQUADS } from '../../../solana/programs/squads.ts'
import { metadataSeeds } from '../../../solana/programs/token-metadata.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { ProvenCap } from '../../../solana/raise-acts.ts'
import { decodeRaise, decodeRaiseEscrow, type Raise, type RaiseEscrow } from '../../../solana/raises.ts'
import { readMint, readTokenAccount, type TokenAccountState } from '../../../solana/token-accounts.ts'
import { metadataExtension, readMintExtensions } from '../../../solana/token-extensions.ts'
import { tokenProgramOf } from '../../../solana/token-programs.ts'
import { feeInEpoch } from '../../../solana/transfer-fees.ts'
import { type Chain, readAccounts, TIME_AND_RENT, timeAndRentIn } from '../chain-records.ts'
import { foreignWords, PageFault, type TextKey } from '../page-fault.ts'
import type { Purse } from '../planned-transaction.ts'
import { associatedAccountOf, findProgramAddress, requireKey } from '../program-addresses.ts'
import type { SolanaNode } from '../solana-node.ts'
import { metaplexOf, ownMetadataOf } from '../token-words.ts'
import { type ClaimedCap, isInTree, type RaiseSubject } from './raise-files.ts'

/** A token of the raise: the one that is sold, or the one that is paid. */
export interface RaiseToken {
  mint: string
  symbol: string
  decimals: number
  program: string
  /** Whether nobody can make, freeze, move or pause tokens of others, or change what a transfer costs or calls. */
  isFree: boolean
  hasHook: boolean
  fee: ReturnType<typeof feeInEpoch>
}

/** Who can use the creator's key. */
type CreatorKey =
  | { kind: 'wallet' | 'program' }
  /** `voters` may approve; `authority` can change them and the rules alone, null if nobody can. */
  | { kind: 'vault'; threshold: number; voters: number; timeLock: number; authority: string | null }

/** A token account of the wallet; `state` is null while it is not open. */
export interface OwnTokens {
  address: string
  state: TokenAccountState | null
}

/** What a wallet has in one round, and may have. */
export interface RaisePart {
  round: number
  escrowAddress: string
  escrow: RaiseEscrow | null
  /** What the allowlist says, once its proof is checked; null if the wallet is not in it, or there is none. */
  listed: ProvenCap | null
  /** Whether the site has a line of the wallet whose root is not on the chain yet. */
  isWaiting: boolean
}

interface RaiseWallet {
  address: string
  tokens: OwnTokens
  quotes: OwnTokens
  parts: readonly RaisePart[]
}

export interface RaiseState extends Purse {
  raise: Raise
  /** Time of the chain in Unix seconds. */
  now: bigint
  token: RaiseToken
  quote: RaiseToken
  key: CreatorKey
  /** Tokens in the vault of the program. */
  held: bigint
  wallet: RaiseWallet | null
}

/** Reads the raise alone, whose addresses never change. Throws PageFault if it is not one, or does not fit its address. */
export async function readRaise(node: SolanaNode, address: string): Promise<Raise> {
  return raiseIn(await readAccounts(node, [address]), address)
}

/** Each answer is checked, because a node can say something else the next time. */
async function raiseIn(chain: Chain, address: string): Promise<Raise> {
  const record = chain.get(address) ?? null
  if (record === null) throw new PageFault('raiseNotOnChain')
  const raise = decodeRaise(address, record)
  if (raise === null) throw new PageFault('raiseForeign')
  const { base, mint, quoteMint, baseVault, quoteVault } = raise
  const derived = await Promise.all([
    findProgramAddress(PRESALE.id, ...PRESALE_SEEDS.presale(base, mint, quoteMint)),
    findProgramAddress(PRESALE.id, ...PRESALE_SEEDS.baseVault(address)),
    findProgramAddress(PRESALE.id, ...PRESALE_SEEDS.quoteVault(address)),
  ])
  if (derived.join() !== [address, baseVault, quoteVault].join()) throw new PageFault('raiseForeign')
  return raise
}

/** Reads everything in one request. Throws PageFault for what contradicts the raise or the allowlist. */
export async function readRaiseState(
  node: SolanaNode,
  { raise: known, subject }: { raise: Raise; subject: RaiseSubject },
  buyer: { address: string; caps: readonly ClaimedCap[] } | null,
): Promise<RaiseState> {
  const { address, mint, quoteMint, baseVault } = known
  const [tokenWords, quoteWords] = await Promise.all([metadataAddress(mint), metadataAddress(quoteMint)])
  const places = buyer && (await placesOf(known, buyer.address))
  const asked = [
    ...[...TIME_AND_RENT, address, mint, quoteMint, tokenWords, quoteWords, baseVault],
    ...(subject.vault ? [subject.vault.multisig] : []),
    ...(buyer && places ? [buyer.address, places.tokens, places.quotes, ...places.escrows] : []),
    ...(buyer?.caps.map(({ config }) => config) ?? []),
  ]
  const chain = await readAccounts(node, [...new Set(asked)])
  const { now, epoch, rentOf } = timeAndRentIn(chain)
  const raise = await raiseIn(chain, address)
  const vault = chain.get(baseVault)
  const held = vault ? readTokenAccount(vault)?.amount : undefined
  if (held === undefined) throw new PageFault('nodeStrange')
  const tokenOf = (of: string, words: string) => tokenIn(chain, of, { words, epoch })
  return {
    raise,
    now,
    rentOf,
    token: tokenOf(mint, tokenWords),
    quote: tokenOf(quoteMint, quoteWords),
    key: await keyOf(raise.creator, subject, chain),
    held,
    lamports: (buyer && chain.get(buyer.address)?.lamports) ?? 0n,
    wallet: buyer && places && (await walletIn(chain, raise, { ...buyer, ...places })),
  }
}

const metadataAddress = (mint: string) => findProgramAddress(PROGRAMS.tokenMetadata.id, ...metadataSeeds(mint))

async function placesOf(raise: Raise, wallet: string) {
  const [tokens, quotes, ...escrows] = await Promise.all([
    associatedAccountOf(raise.mint, wallet, tokenProgramOf(raise.tokenProgram)),
    associatedAccountOf(raise.quoteMint, wallet, tokenProgramOf(raise.quoteTokenProgram)),
    ...raise.rounds.map((_, round) =>
      findProgramAddress(PRESALE.id, ...PRESALE_SEEDS.escrow(raise.address, wallet, round)),
    ),
  ])
  return { tokens, quotes, escrows }
}

function tokenIn(chain: Chain, mint: string, of: { words: string; epoch: bigint }): RaiseToken {
  const record = chain.get(mint)
  const state = record ? readMint(record) : null
  if (!record || state === null) throw new PageFault('nodeStrange')
  const extensions = record.owner === TOKEN_2022_PROGRAM ? readMintExtensions(record.data) : null
  const own = extensions === null ? null : ownMetadataOf(metadataExtension(record.data) ?? undefined)
  const metadata = own ?? metaplexOf(chain.get(of.words) ?? null, mint)
  const words = foreignWords(metadata?.symbol || metadata?.name, 32).trim()
  // Anybody can name a token like the currency of the network.
  const symbol = mint === WRAPPED_SOL ? 'SOL' : /^w?sol$/i.test(words) ? '' : words
  const { transfer_fee_config, transfer_hook } = extensions?.authorities ?? {}
  const powers = [
    ...[state.mintAuthority, state.freezeAuthority, extensions?.permanentDelegate, extensions?.isPaused],
    ...[transfer_fee_config, transfer_hook],
  ]
  return {
    mint,
    symbol: symbol || `${mint.slice(0, 4)}…${mint.slice(-4)}`,
    // With other decimals, what is typed would be another amount.
    decimals: mint === WRAPPED_SOL ? SOL_DECIMALS : state.decimals,
    program: record.owner,
    isFree: powers.every((power) => power === null || power === undefined),
    hasHook: (extensions?.transferHook ?? null) !== null,
    fee: feeInEpoch(extensions, of.epoch),
  }
}

/** Who can use the creator's key: a vault only if its address follows from the multisig on chain. */
async function keyOf(creator: string, { vault }: RaiseSubject, chain: Chain): Promise<CreatorKey> {
  if (isEd25519Point(requireKey(creator))) return { kind: 'wallet' }
  const multisig = vault && SQUADS.decode('multisig', chain.get(vault.multisig))
  if (vault === null || multisig === null) return { kind: 'program' }
  const parts = [utf8('multisig'), requireKey(vault.multisig), utf8('vault'), Uint8Array.of(vault.index)]
  if ((await findProgramAddress(SQUADS.id, ...parts)) !== creator) return { kind: 'program' }
  const { threshold, members, time_lock: timeLock, config_authority: authority } = multisig
  const rights = (members as readonly { permissions: { mask: number } }[]).map(({ permissions }) => permissions.mask)
  const voters = rights.filter((mask) => (mask & RIGHTS.vote) !== 0).length
  return { kind: 'vault', threshold, voters, timeLock, authority: authority === SYSTEM_PROGRAM ? null : authority }
}

interface Buyer {
  address: string
  caps: readonly ClaimedCap[]
  tokens: string
  quotes: string
  escrows: readonly string[]
}

async function walletIn(chain: Chain, raise: Raise, buyer: Buyer): Promise<RaiseWallet> {
  const { address, caps, tokens, quotes, escrows } = buyer
  const parts = escrows.map(async (escrowAddress, round): Promise<RaisePart> => {
    const escrow = decodeRaiseEscrow(escrowAddress, chain.get(escrowAddress) ?? null)
    const isOwn = escrow?.raise === raise.address && escrow.owner === address && escrow.round === round
    if (escrow !== null && !isOwn) throw new PageFault('raiseForeign')
    const cap = caps.find((each) => each.round === round)
    const isWaiting = cap !== undefined && !chain.get(cap.config)
    const listed = cap === undefined || isWaiting ? null : await provenCap(chain, raise, address, cap)
    return { round, escrowAddress, escrow, listed, isWaiting }
  })
  return {
    address,
    tokens: tokensIn(chain, tokens, { mint: raise.mint, owner: address }),
    quotes: tokensIn(chain, quotes, { mint: raise.quoteMint, owner: address }),
    parts: await Promise.all(parts),
  }
}

/** The line, if its proof leads to the root that the chain has for this raise. */
async function provenCap(chain: Chain, raise: Raise, wallet: string, cap: ClaimedCap): Promise<ProvenCap> {
  const config = PRESALE.decode('merkle_root_config', chain.get(cap.config))
  const isProven = config?.presale === raise.address && (await isInTree(wallet, cap, config.root))
  if (!isProven) throw new PageFault('capUnproven')
  return cap
}

function tokensIn(chain: Chain, address: string, own: { mint: string; owner: string }): OwnTokens {
  const record = chain.get(address)
  if (!record || (record.data.length === 0 && record.owner !== TOKEN_PROGRAM)) return { address, state: null }
  const state = readTokenAccount(record)
  const isUsable = state?.mint === own.mint && state.owner === own.owner && state.state === 'initialized'
  if (!isUsable) throw new PageFault('tokenAccountUnusable')
  return { address, state }
}

/** Why the page cannot build acts of this raise; null if it can. */
export function unusual({ raise, token, quote }: RaiseState): TextKey | null {
  return raise.allowlist === 'operator' || token.hasHook || quote.hasHook || quote.fee !== null ? 'raiseUnusual' : null
}
