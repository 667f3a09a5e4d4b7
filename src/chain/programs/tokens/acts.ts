/** Builds the transactions of a mint's authorities: for wallets, and for the mint as a whole. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { compileForEach, type TransferRecipient } from './transfers.ts'
import type { TokenProgram } from './types.ts'

export type WalletAct = 'mint' | 'burn' | 'freeze' | 'thaw'

export interface WalletActs extends Envelope {
  act: WalletAct
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  /** The wallets with their token accounts; a freeze and a thaw have no amounts. */
  wallets: readonly TransferRecipient[]
  /** The field of the request that lists them, for errors. */
  param: string
}

/**
 * The payer holds the authority. A token account that `opens` is opened first, at its cost. Throws bad_request with
 * `details.fits` for more wallets than one transaction has room for.
 */
export async function buildWalletActs(input: WalletActs): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const { act, decimals, wallets, param } = input
  const program = input.tokenProgram === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  // Compiling is faster if equal keys are the same object.
  const [payer, mint] = [new PublicKey(input.payer), new PublicKey(input.mint)]
  const done = (account: PublicKey, amount: bigint): TransactionInstruction => {
    if (act === 'mint') return spl.createMintToCheckedInstruction(mint, account, payer, amount, decimals, [], program)
    if (act === 'burn') return spl.createBurnCheckedInstruction(account, mint, payer, amount, decimals, [], program)
    if (act === 'freeze') return spl.createFreezeAccountInstruction(account, mint, payer, [], program)
    return spl.createThawAccountInstruction(account, mint, payer, [], program)
  }
  const groups = wallets.map(({ wallet, tokenAccount, amount, opens }) => {
    const account = new PublicKey(tokenAccount)
    if (!opens) return [done(account, amount)]
    const holder = new PublicKey(wallet)
    return [
      spl.createAssociatedTokenAccountIdempotentInstruction(payer, account, holder, mint, program),
      done(account, amount),
    ]
  })
  const own = wallets.filter(({ wallet }) => wallet === input.payer).map(({ tokenAccount }) => tokenAccount)
  return compileForEach(input, { wallets, groups, own }, param)
}

/** The payer holds the pause or the close authority of a Token-2022 mint; closing returns the rent to it. */
export async function buildMintAct(
  input: Envelope & { act: 'pause' | 'resume' | 'close'; mint: string },
): Promise<UnsignedTransaction> {
  const [{ PublicKey }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  const [payer, mint, program] = [new PublicKey(input.payer), new PublicKey(input.mint), spl.TOKEN_2022_PROGRAM_ID]
  const act = {
    pause: () => spl.createPauseInstruction(mint, payer, [], program),
    resume: () => spl.createResumeInstruction(mint, payer, [], program),
    close: () => spl.createCloseAccountInstruction(mint, payer, payer, [], program),
  }[input.act]
  return compileUnsigned(input, [act()])
}
