/** Withdraws the remaining tokens of an airdrop's vault to the receiver stored on chain, signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildClawback, CLAWBACK_UNITS, tokenAccountAddress } from '../../chain/programs/merkle-distributor/index.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type BuiltTransaction, buildTransaction, signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { isOpen, type PresentAirdrop, readAirdrop, requireDistributor } from './on-chain.ts'
import { describeUnixTime } from './unix-times.ts'

type WithdrawVaultRoute = Api['airdrops']['withdraw']

interface Withdrawal {
  mint: string
  amount: string
}

export async function withdrawVault(
  context: Context,
  input: Input<WithdrawVaultRoute>,
): Promise<Result<WithdrawVaultRoute>> {
  if (context.vaultActing !== undefined) {
    const { built, mint, amount } = await buildWithdrawal(context, input, context.vaultActing.vault)
    return { ...unsignedAnswer(built), mint, amount, tracked_resource: withdrawalTracking(input.id) }
  }
  const run = await openSigningRun<Withdrawal>(context, 'airdrop.withdraw')
  const plan = run.resumed ?? (await planWithdrawal(context, input, run.wallet))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ mode: 'signed', signature, mint: plan.state.mint, amount: plan.state.amount }),
  })
}

async function planWithdrawal(
  context: Context,
  input: Input<WithdrawVaultRoute>,
  wallet: string,
): Promise<NewSigningPlan<Withdrawal>> {
  const { built, mint, amount } = await buildWithdrawal(context, input, wallet)
  return {
    // The program moves its vault's tokens to the stored receiver, so none of them belong to the wallet.
    first: signingDraft(built, [mint]),
    state: { mint, amount },
    tracked_resource: withdrawalTracking(input.id),
  }
}

const withdrawalTracking = (id: string) => trackingOf('airdrop', id, ['airdrop.vault_drained'])

async function buildWithdrawal(
  context: Context,
  input: Input<WithdrawVaultRoute>,
  wallet: string,
): Promise<Withdrawal & { built: BuiltTransaction }> {
  const { id } = input
  const airdrop = requireDistributor(context.chain, await readAirdrop(context.chain, id))
  requireWithdrawable(airdrop)
  const opensReceiverFor = await receiverOf(context, airdrop, input.admin, wallet)
  const amount = requireWhole(airdrop, BigInt(input.amount))
  const { address, mint, distributor } = airdrop
  const receiver = distributor.clawbackReceiver
  const built = await buildTransaction(context, {
    payer: wallet,
    fallbackUnits: CLAWBACK_UNITS,
    build: (envelope) => buildClawback({ ...envelope, distributor: address, mint, receiver, opensReceiverFor }),
  })
  return { built, mint, amount: String(amount) }
}

function requireWithdrawable({ id, distributor, now }: PresentAirdrop): void {
  const { isClawedBack, clawbackAt, clawbackReceiver } = distributor
  if (isClawedBack) {
    throw badRequest(`The vault of the airdrop ${id} was already withdrawn to ${clawbackReceiver}`, {
      param: 'id',
      details: { reason: 'already_withdrawn', clawback_receiver: clawbackReceiver },
    })
  }
  if (now >= clawbackAt) return
  const left = clawbackAt - now
  throw badRequest(
    `The vault of the airdrop ${id} can be withdrawn from ${describeUnixTime(clawbackAt)} on: until then wallets can claim from it`,
    {
      param: 'id',
      details: { reason: 'too_early', clawback_at: describeUnixTime(clawbackAt), seconds_left: String(left) },
    },
  )
}

/**
 * Returns the owner for whom the receiver must be opened again, or null if it is open. Throws bad_request if it is not
 * the given admin's, or if it is closed and its owner is unknown.
 */
async function receiverOf(
  { chain }: Context,
  { mint, distributor }: PresentAirdrop,
  admin: string | undefined,
  wallet: string,
): Promise<string | null> {
  const receiver = distributor.clawbackReceiver
  const [account = null] = await accountsAt(chain, [receiver])
  const state = account === null ? null : decodeTokenAccount(account)
  const details = { clawback_receiver: receiver, owner: state?.owner ?? null }
  if (state !== null) {
    if (admin === undefined || state.owner === admin) return null
    throw badRequest(
      `admin: unclaimed tokens go to the token account ${receiver}, which belongs to ${state.owner}, not to ${admin}`,
      { param: 'admin', details },
    )
  }
  const owner = admin ?? wallet
  if (!isOpen(account) && (await tokenAccountAddress(mint, owner)) === receiver) return owner
  throw badRequest(
    `Unclaimed tokens go to the token account ${receiver}, which is closed and does not belong to ${owner}: send its owner as admin, or have the account opened again`,
    { param: 'admin', details },
  )
}

/** The program always moves the whole balance. */
function requireWhole({ id, mint, vault, vaultAddress }: PresentAirdrop, amount: bigint): bigint {
  if (vault?.state === 'frozen') {
    throw badRequest(
      `The vault ${vaultAddress} of the airdrop ${id} is frozen: the freeze authority of ${mint} has to thaw it first`,
      { param: 'id', details: { reason: 'vault_frozen', vault: vaultAddress } },
    )
  }
  const balance = vault?.amount ?? 0n
  if (amount === balance) return balance
  throw badRequest(
    `amount: the vault of the airdrop ${id} holds ${balance}, and only the whole balance can be withdrawn: send amount ${balance}, not ${amount}`,
    { param: 'amount', details: { vault: vaultAddress, vault_balance: String(balance) } },
  )
}
