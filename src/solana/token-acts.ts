/** What an act needs around it at a wallet's own token account, from addresses alone, so that browsers build it, too. */
import { SYSTEM_PROGRAM, WRAPPED_SOL } from './program-ids.ts'
import { ASSOCIATED_TOKEN } from './programs/associated-token.ts'
import { SYSTEM } from './programs/system.ts'
import { TOKEN } from './programs/token.ts'

/** The associated token account of a wallet. */
export interface OwnAccount {
  wallet: string
  account: string
  mint: string
  /** Address of the token program. */
  program: string
}

/** The token account through which an act pays or is paid. */
export interface Through extends OwnAccount {
  isOpen: boolean
}

/** Opens the account if it is not there; the wallet pays unless another payer is given. */
export const openingInstruction = ({
  wallet,
  account,
  mint,
  program,
  payer = wallet,
}: OwnAccount & { payer?: string }) =>
  ASSOCIATED_TOKEN.instruction(
    'createIdempotent',
    { source: payer, account, wallet, mint, systemProgram: SYSTEM_PROGRAM, tokenProgram: program },
    {},
  )

export const wrappingInstructions = ({ wallet, account }: Pick<OwnAccount, 'wallet' | 'account'>, lamports: bigint) => [
  SYSTEM.instruction('transfer', { source: wallet, destination: account }, { lamports }),
  TOKEN.instruction('syncNative', { account }, {}),
]

/** Closes an account of wrapped SOL that only the act has opened, whose lamports all go to the wallet. */
export const unwrappingInstructions = ({ wallet, account, mint, isOpen }: Through) =>
  isOpen || mint !== WRAPPED_SOL
    ? []
    : [TOKEN.instruction('closeAccount', { account, destination: wallet, authority: wallet, signers: [] }, {})]

/**
 * A transfer of 0 from the account to itself. It fails if the mint has other decimals, so the signer need not trust the
 * given ones.
 */
export function decimalsInstruction({ wallet, account, mint, program }: OwnAccount, decimals: number) {
  const accounts = { source: account, mint, destination: account, authority: wallet, signers: [] }
  return { ...TOKEN.instruction('transferChecked', accounts, { amount: 0n, decimals }), program }
}
