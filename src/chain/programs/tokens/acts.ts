/** Builds the transactions of a mint's authorities: for wallets, and for the mint as a whole. */
import type { PlainInstruction } from '../../../solana/programs/table.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import { openingInstruction } from '../../../solana/token-acts.ts'
import { tokenProgramOf } from '../../../solana/token-programs.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
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
  const { act, decimals, wallets, param, payer, mint } = input
  const [sdk, program] = [await sdkInstructions(), tokenProgramOf(input.tokenProgram)]
  const done = (account: string, amount: bigint): PlainInstruction => {
    const roles = { account, mint, authority: payer, signers: [] }
    if (act === 'mint') return TOKEN.instruction('mintToChecked', roles, { amount, decimals })
    if (act === 'burn') return TOKEN.instruction('burnChecked', roles, { amount, decimals })
    return TOKEN.instruction(act === 'freeze' ? 'freezeAccount' : 'thawAccount', roles, {})
  }
  const groups = wallets.map(({ wallet, tokenAccount: account, amount, opens }) => {
    const own = { wallet, account, mint, program, payer }
    const acts = [...(opens ? [openingInstruction(own)] : []), { ...done(account, amount), program }]
    return acts.map(sdk)
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
