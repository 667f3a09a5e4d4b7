/** The part of a context that making a proposal of a multisig uses. */
import type { Context } from '../../../context.ts'
import type { SigningContext } from '../../signing/types.ts'

/** The part of a context that a proposal uses. A worker that proposes makes its own. */
export type ProposalContext = SigningContext &
  Pick<Context, 'txVersion'> &
  Partial<Pick<Context, 'force' | 'vaultActing' | 'renews'>>
