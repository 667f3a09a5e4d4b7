/** Quotes other than SOL on a test's chain: mints of either program, and what wallets hold of them. */
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { type Keypair, PublicKey } from '@solana/web3.js'
import type { LocalChain } from '../../src/localnet/types.ts'
import { goldenKey } from './golden.ts'

export const [USDC, QUOTE_2022, QUOTE_WITH_FEE] = [31, 32, 33].map((seed) => goldenKey(seed).publicKey.toBase58()) as [
  string,
  string,
  string,
]
const TRANSFER_FEE_CONFIG = { type: 1, length: 108 }
const [MINT_TAG, MINT_AND_TAG] = [1, 166]

export interface QuoteMint {
  mint: string
  decimals: number
  program: 'spl' | 'token2022'
  /** Whether it is a Token-2022 mint that takes a fee from transfers. */
  hasTransferFee?: boolean
}

/** What the tests trade against: six decimals like USDC, and Token-2022 without and with an extension. */
export const QUOTES: readonly QuoteMint[] = [
  { mint: USDC, decimals: 6, program: 'spl' },
  { mint: QUOTE_2022, decimals: 8, program: 'token2022' },
  { mint: QUOTE_WITH_FEE, decimals: 6, program: 'token2022', hasTransferFee: true },
]

const programOf = ({ program }: QuoteMint) => (program === 'spl' ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID)

export function putMint(chain: Pick<LocalChain, 'setAccount'>, quote: QuoteMint): void {
  const base = Buffer.alloc(82)
  base.writeUInt8(quote.decimals, 44)
  base.writeUInt8(1, 45)
  const { type, length } = TRANSFER_FEE_CONFIG
  const extended = Buffer.alloc(MINT_AND_TAG + 4 + length)
  base.copy(extended)
  extended.writeUInt8(MINT_TAG, MINT_AND_TAG - 1)
  extended.writeUInt16LE(type, MINT_AND_TAG)
  extended.writeUInt16LE(length, MINT_AND_TAG + 2)
  const data = quote.hasTransferFee ? extended : base
  chain.setAccount(quote.mint, { lamports: 10_000_000n, owner: programOf(quote).toBase58(), data, executable: false })
}

export const quoteAddress = (quote: QuoteMint, owner: Keypair): string =>
  getAssociatedTokenAddressSync(new PublicKey(quote.mint), owner.publicKey, true, programOf(quote)).toBase58()

/** Sets what the owner's associated account holds. */
export function putTokens(
  chain: Pick<LocalChain, 'setAccount'>,
  quote: QuoteMint,
  { owner, amount }: { owner: Keypair; amount: bigint },
): void {
  const data = Buffer.alloc(165)
  new PublicKey(quote.mint).toBuffer().copy(data)
  owner.publicKey.toBuffer().copy(data, 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(1, 108)
  chain.setAccount(quoteAddress(quote, owner), {
    lamports: 10_000_000n,
    owner: programOf(quote).toBase58(),
    data,
    executable: false,
  })
}
