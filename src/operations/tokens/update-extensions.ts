/** Changes the settings of a Token-2022 mint's extensions, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildExtensionUpdates,
  type ExtensionUpdates,
  type OnChainToken,
  readTokenState,
} from '../../chain/programs/tokens/index.ts'
import { chainTimeOf } from '../../chain/reads/chain-clock.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import type { TransferFee } from '../../solana/token-extensions.ts'
import { requireDefaultStateAuthority, requireExtensionAuthority, requireHook } from './authorities.ts'
import { tokenAct } from './token-act.ts'

type UpdateRoute = Api['tokens']['updateExtensions']
type UpdateInput = Input<UpdateRoute>

/** The program's delay of a new fee, in epochs. */
const FEE_DELAY = 2n
/** More than all five settings take together. */
const UPDATE_UNITS = 30_000

/** Throws bad_request unless the mint has each extension and the payer holds its authority. */
export const updateExtensions = tokenAct<UpdateRoute>('token.update_extensions', async (context, input) => {
  const { mint, payer } = input
  const token = await readTokenState(context.chain, mint)
  const updates = await planUpdates(context, token, input)
  const feeTerms = updates.transferFee === undefined ? null : await feeChange(context, token, updates.transferFee)
  return {
    fallbackUnits: UPDATE_UNITS,
    build: (envelope) => buildExtensionUpdates({ ...envelope, mint, updates }),
    summary: { mint, authority: payer, transfer_fee: feeTerms },
    about: aboutOf(input),
  }
})

/** The new settings, which those who approve do not see in the movement. */
function aboutOf({ mint, transfer_fee: fee, transfer_hook: hook, ...more }: UpdateInput): string {
  const { interest_rate: interest, scaled_amount: scaled, default_frozen: frozen } = more
  const parts = [
    ...(fee ? [`transfer fee ${fee.basis_points / 100} %, at most ${fee.maximum_fee} raw units`] : []),
    ...(interest ? [`interest ${interest.basis_points / 100} % a year`] : []),
    ...(scaled ? [`multiplier ${scaled.multiplier} from ${scaled.effective_at ?? 'now'} on`] : []),
    ...(frozen === undefined ? [] : [`new accounts ${frozen ? 'frozen' : 'usable'}`]),
    ...(hook ? [`transfer hook ${hook.program ?? 'none'}`] : []),
  ]
  return `${mint}, ${parts.join(', ')}`
}

async function planUpdates(
  context: Context,
  token: OnChainToken,
  { payer, transfer_fee, interest_rate, scaled_amount, default_frozen, transfer_hook }: UpdateInput,
): Promise<ExtensionUpdates> {
  const updates: ExtensionUpdates = {}
  if (transfer_fee !== undefined) {
    requireExtensionAuthority(token, 'transfer_fee_config', { payer, param: 'transfer_fee' })
    updates.transferFee = { basisPoints: transfer_fee.basis_points, maximumFee: BigInt(transfer_fee.maximum_fee) }
  }
  if (interest_rate !== undefined) {
    requireExtensionAuthority(token, 'interest_rate', { payer, param: 'interest_rate' })
    updates.interestBasisPoints = interest_rate.basis_points
  }
  if (scaled_amount !== undefined) {
    requireExtensionAuthority(token, 'scaled_amount', { payer, param: 'scaled_amount' })
    const { multiplier, effective_at } = scaled_amount
    const effectiveAt = effective_at === undefined ? 0n : BigInt(Math.floor(Date.parse(effective_at) / 1000))
    updates.multiplier = { value: Number(multiplier), effectiveAt }
  }
  if (default_frozen !== undefined) {
    requireDefaultStateAuthority(token, payer)
    updates.isFrozenByDefault = default_frozen
  }
  if (transfer_hook !== undefined) {
    requireExtensionAuthority(token, 'transfer_hook', { payer, param: 'transfer_hook' })
    if (transfer_hook.program !== null) await requireHook(context, transfer_hook.program, 'transfer_hook.program')
    updates.transferHook = transfer_hook.program
  }
  return updates
}

async function feeChange(
  { chain }: Pick<Context, 'chain'>,
  { extensions }: OnChainToken,
  next: Omit<TransferFee, 'epoch'>,
): Promise<Result<UpdateRoute>['transfer_fee']> {
  const [clock] = await accountsAt(chain, [CLOCK_SYSVAR])
  const { epoch } = await chainTimeOf(clock ?? null)
  const fees = extensions?.transferFee
  if (fees === null || fees === undefined) throw new Error('the fee was read before')
  const present = epoch < fees.newer.epoch ? fees.older : fees.newer
  return {
    present: feeFields(present),
    next: { ...feeFields(next), from_epoch: String(epoch + FEE_DELAY) },
    present_epoch: String(epoch),
  }
}

const feeFields = ({ basisPoints, maximumFee }: Omit<TransferFee, 'epoch'>) => ({
  basis_points: basisPoints,
  maximum_fee: String(maximumFee),
})
