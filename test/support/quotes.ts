/** Quotes other than SOL on a test's chain: mints of either program, and what wallets hold of them. */
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { type Keypair, PublicKey } from '@solana/web3.js'
import { tokenBadgeAddress } from '../../src/chain/programs/dbc/index.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { goldenKey } from './golden.ts'
import { mapped } from './mapped.ts'
import { extended, mintData, type TokenExtensions, tokenAccountData } from './token-accounts.ts'

export const [USDC, QUOTE_2022, QUOTE_WITH_FEE] = mapped([31, 32, 33], (seed) => goldenKey(seed).publicKey.toBase58())
const TRANSFER_FEE_CONFIG = 1
/** First bytes of SHA-256 of `account:TokenBadge`. */
const BADGE_DISCRIMINATOR = Buffer.from('74dbcce5f974ff96', 'hex')

export interface QuoteMint {
  mint: string
  decimals: number
  program: 'spl' | 'token2022'
  /** Extensions of a Token-2022 mint. */
  extensions?: TokenExtensions
}

/** A fee in basis points from an epoch on, after one of `older`. */
export function transferFee(newer: number, { from = 0n, older = newer } = {}): TokenExtensions[number] {
  const data = Buffer.alloc(108)
  data.writeUInt16LE(older, 72 + 16)
  data.writeBigUInt64LE(from, 90)
  data.writeUInt16LE(newer, 90 + 16)
  return [TRANSFER_FEE_CONFIG, data]
}

/** Extensions as tokenized shares have them: nothing is called, frozen or paused, and wallets show half more. */
export const SHARE_EXTENSIONS: TokenExtensions = [
  [6, Uint8Array.of(1)],
  [12, goldenKey(36).publicKey.toBytes()],
  [14, new Uint8Array(64)],
  [25, scaledBy(1.5)],
  [26, new Uint8Array(33)],
]

function scaledBy(factor: number): Uint8Array {
  const data = Buffer.alloc(32 + 8 + 8 + 8)
  data.writeDoubleLE(factor, 32)
  data.writeDoubleLE(factor, 48)
  return data
}

/** What the tests trade against: six decimals like USDC, and Token-2022 without and with an extension. */
export const QUOTES: readonly QuoteMint[] = [
  { mint: USDC, decimals: 6, program: 'spl' },
  { mint: QUOTE_2022, decimals: 8, program: 'token2022' },
  { mint: QUOTE_WITH_FEE, decimals: 6, program: 'token2022', extensions: [transferFee(0)] },
]

const programOf = ({ program }: QuoteMint) => (program === 'spl' ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID)

export function putMint(chain: Pick<LocalChain, 'setAccount'>, quote: QuoteMint): void {
  const { decimals, extensions = [] } = quote
  const data = extensions.length === 0 ? mintData(decimals) : extended(mintData(decimals), 1, extensions)
  chain.setAccount(quote.mint, { lamports: 10_000_000n, owner: programOf(quote).toBase58(), data, executable: false })
}

export const quoteAddress = (quote: QuoteMint, owner: Keypair): string =>
  getAssociatedTokenAddressSync(new PublicKey(quote.mint), owner.publicKey, true, programOf(quote)).toBase58()

/** Sets the badge of a quote as Meteora's operator makes it; `of` is the mint that it names. */
export async function putBadge(
  chain: Pick<LocalChain, 'setAccount'>,
  { mint }: QuoteMint,
  { of = mint, owner = PROGRAMS.dbc.id }: { of?: string; owner?: string } = {},
): Promise<string> {
  const address = await tokenBadgeAddress(mint)
  const data = Buffer.concat([BADGE_DISCRIMINATOR, new PublicKey(of).toBuffer(), Buffer.alloc(128)])
  chain.setAccount(address, { lamports: 10_000_000n, owner, data, executable: false })
  return address
}

/** Sets what the owner's associated account holds. */
export function putTokens(
  chain: Pick<LocalChain, 'setAccount'>,
  quote: QuoteMint,
  { owner, amount }: { owner: Keypair; amount: bigint },
): void {
  const data = tokenAccountData(new PublicKey(quote.mint).toBuffer(), { owner: owner.publicKey.toBuffer(), amount })
  chain.setAccount(quoteAddress(quote, owner), {
    lamports: 10_000_000n,
    owner: programOf(quote).toBase58(),
    data,
    executable: false,
  })
}
